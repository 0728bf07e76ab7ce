import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { putServers } from '../edit/servers.js'
import { loadConfig } from '../load.js'
import { CLIENTS, type ClientId, type ClientWorld, clientSources } from './clients.js'
import { existingServers } from './existing.js'
import { findClientServers } from './find.js'
import { entriesOf, type ImportOptions, planImport } from './plan.js'

let home: string
let project: string
let world: ClientWorld

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-import-'))
  project = join(home, 'app')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(join(project, 'src'))
  world = { home, cwd: join(project, 'src'), env: {}, platform: 'linux' }
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function write(path: string, content: unknown): void {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
}

const ALL = [...CLIENTS.keys()]

async function plan(options: Partial<ImportOptions> = {}, clients: readonly ClientId[] = ALL, mine = 'none.toml') {
  const found = findClientServers(clients, world)
  const existing = existingServers(join(home, mine))
  const decisions = planImport(found.servers, existing, { rename: false, project: false, ...options })
  return { ...found, decisions, entries: entriesOf(decisions) }
}

const command = (name: string) => ({ command: name })

describe('finding servers of other clients', () => {
  it('looks into every client, in order', async () => {
    write('.claude.json', {
      mcpServers: { one: command('1') },
      projects: { [project]: { mcpServers: { two: command('2') } } },
    })
    write('app/.mcp.json', { mcpServers: { three: command('3') } })
    write('.config/Claude/claude_desktop_config.json', { mcpServers: { four: command('4') } })
    write('.cursor/mcp.json', { mcpServers: { five: command('5') } })
    write('.codeium/windsurf/mcp_config.json', { mcpServers: { six: { serverUrl: 'http://6/' } } })
    write('.config/Code/User/mcp.json', { servers: { seven: { type: 'http', url: 'http://7/' } } })
    write('.codex/config.toml', 'model = "m"\n[mcp_servers.eight]\ncommand = "8"\n')
    write('.gemini/settings.json', { mcpServers: { nine: { httpUrl: 'http://9/' } } })
    write('.config/opencode/opencode.jsonc', '{"mcp": {"ten": {"type": "local", "command": ["10", "x"]}}} // end')
    const { servers, problems, files } = await plan()
    expect(problems).toEqual([])
    expect(servers.map(({ client, name, scope }) => `${client} ${name} ${scope}`)).toEqual([
      'claude-code two user',
      'claude-code three project',
      'claude-code one user',
      'claude-desktop four user',
      'cursor five user',
      'windsurf six user',
      'vscode seven user',
      'codex eight user',
      'gemini nine user',
      'opencode ten user',
    ])
    expect(files[0]).toEqual({ client: 'claude-code', file: join(home, '.claude.json'), servers: 2 })
    expect(servers.at(-1)?.entry).toEqual({ command: '10', args: ['x'] })
  })

  it.each<[NodeJS.Platform, Record<string, string>, string[]]>([
    ['darwin', {}, ['Library/Application Support/Claude', 'Library/Application Support/Code/User']],
    ['win32', {}, ['AppData/Roaming/Claude', 'AppData/Roaming/Code/User']],
    ['win32', { APPDATA: '/roaming' }, ['/roaming/Claude', '/roaming/Code/User']],
    ['linux', { XDG_CONFIG_HOME: '/xdg' }, ['/xdg/Claude', '/xdg/Code/User']],
  ])('knows where desktop programs keep their files on %s %j', (platform, env, folders) => {
    const files = (['claude-desktop', 'vscode'] as const)
      .flatMap((client) => clientSources(client, { ...world, platform, env }))
      .filter(({ scope }) => scope === 'user')
      .map(({ file }) => dirname(file))
    for (const folder of folders) expect(files).toContain(folder.startsWith('/') ? folder : join(home, folder))
  })

  it('follows the variables that move a client', () => {
    const env = { CODEX_HOME: '/c', CLAUDE_CONFIG_DIR: '/d', XDG_CONFIG_HOME: '/x' }
    const files = ALL.flatMap((client) => clientSources(client, { ...world, env })).map(({ file }) => file)
    expect(files).toEqual(expect.arrayContaining(['/c/config.toml', '/d/.claude.json', '/x/opencode/opencode.json']))
  })

  it('names what it cannot read and goes on', async () => {
    write('.cursor/mcp.json', '{"mcpServers": ')
    write('.codex/config.toml', '[mcp_servers')
    write('.gemini/settings.json', { mcpServers: { bad: { command: 5 }, good: command('c') } })
    mkdirSync(join(home, '.claude.json'))
    const { problems, entries } = await plan()
    expect(problems.map(({ code }) => code)).toEqual(['is_directory', 'syntax', 'syntax', 'wrong_type'])
    expect([...entries.keys()]).toEqual(['good'])
  })

  it('says nothing about files without servers', async () => {
    write('.claude.json', { numStartups: 3 })
    write('.gemini/settings.json', { mcp: { allowed: ['x'] } })
    expect(await plan()).toMatchObject({ servers: [], problems: [] })
  })
})

describe('what wins', () => {
  beforeEach(() => {
    write('.claude.json', { mcpServers: { same: command('c'), differs: command('claude') } })
    write('.cursor/mcp.json', { mcpServers: { same: { ...command('c'), disabled: true }, differs: command('cursor') } })
  })

  it('is the earlier client, and the reason is told', async () => {
    const { decisions, entries } = await plan()
    expect(decisions.map(({ found, outcome, reason }) => [found.client, found.name, outcome, reason])).toEqual([
      ['claude-code', 'same', 'import', 'from Claude Code'],
      ['claude-code', 'differs', 'import', 'from Claude Code'],
      ['cursor', 'same', 'duplicate', `the same server as in Claude Code (${join(home, '.claude.json')})`],
      [
        'cursor',
        'differs',
        'conflict',
        `another server has this name in Claude Code (${join(home, '.claude.json')}), which wins: --rename takes it as 'differs-cursor'`,
      ],
    ])
    expect(entries.get('differs')).toEqual(command('claude'))
  })

  it('is nobody with --rename: the later one gets another name', async () => {
    const { entries } = await plan({ rename: true })
    expect([...entries.keys()]).toEqual(['same', 'differs', 'differs-cursor'])
    expect(entries.get('differs-cursor')).toEqual(command('cursor'))
  })

  it('is what the user has already', async () => {
    write('mine.toml', '[mcp_servers.same]\ncommand = "c"\n[mcp_servers.differs]\ncommand = "mine"\n')
    const { decisions } = await plan({}, ['claude-code'], 'mine.toml')
    expect(decisions.map(({ outcome }) => outcome)).toEqual(['duplicate', 'conflict'])
    write('mine.toml', '[mcp_servers.same]\ncommand = 5\n')
    expect((await plan({}, ['claude-code'], 'mine.toml')).decisions[0]).toMatchObject({
      outcome: 'conflict',
      reason: expect.stringContaining('where it is broken'),
    })
  })
})

describe('an imported entry', () => {
  it('lies in a project: it is taken only when asked for, and then runs there', async () => {
    write('app/.mcp.json', { mcpServers: { p: command('./run'), web: { type: 'http', url: 'http://h/' } } })
    expect((await plan()).decisions.map(({ outcome }) => outcome)).toEqual(['project', 'project'])
    const { entries } = await plan({ project: true })
    expect(entries.get('p')).toEqual({ command: './run', cwd: project })
    expect(entries.get('web')).toEqual({ url: 'http://h/' })
  })

  it('gets a name that can start', async () => {
    write('.cursor/mcp.json', { mcpServers: { 'My Server!': command('c'), 日本: command('d') } })
    const { decisions } = await plan()
    expect(decisions.map(({ as, outcome }) => [as, outcome])).toEqual([
      ['My-Server', 'rename'],
      ['server', 'rename'],
    ])
  })

  it('is never the gateway itself', async () => {
    write('.claude.json', {
      mcpServers: {
        reeve: { type: 'http', url: 'http://127.0.0.1:7411/mcp' },
        gateway: { command: 'npx', args: ['/opt/bin/reeve', 'serve', '--stdio'] },
        other: { command: 'reeve-tools' },
      },
    })
    expect((await plan()).decisions.map(({ outcome }) => outcome)).toEqual(['self', 'self', 'import'])
  })

  it('reads the same from our file as from its own, variables too, and is recognised there', async () => {
    write(
      '.codex/config.toml',
      `[mcp_servers.codex]\ncommand = "sh"\nargs = ["-c", "echo \${X}"]\ntool_timeout_sec = 2\n`,
    )
    write('.cursor/mcp.json', { mcpServers: { cursor: { command: 'c', args: [`\${env:X}`, `\${Y:-y}`] } } })
    write('.config/Code/User/mcp.json', { servers: { code: { command: 'c', env: { T: `\${input:api-key}` } } } })
    write('.claude.json', { mcpServers: { sse: { type: 'sse', url: 'http://h/', headers: { A: 'b' } } } })
    const { entries, decisions } = await plan()
    expect(decisions.find(({ found }) => found.name === 'code')?.reason).toBe(
      'from VS Code; set API_KEY before it starts',
    )
    const mine = join(home, 'mine.toml')
    await putServers(mine, entries)
    const { servers, problems } = await loadConfig({
      home,
      files: [mine],
      env: { X: 'x', API_KEY: 'k' },
      requirementsFile: join(home, 'none.toml'),
    })
    expect(problems).toEqual([])
    expect(Object.fromEntries(servers.map(({ name, config }) => [name, config.transport]))).toMatchObject({
      codex: { args: ['-c', `echo \${X}`] },
      cursor: { args: ['x', 'y'] },
      code: { env: { T: 'k' } },
      sse: { type: 'sse', httpHeaders: { A: 'b' } },
    })
    expect((await plan({}, ALL, 'mine.toml')).decisions.map(({ outcome }) => outcome)).toEqual(
      Array(4).fill('duplicate'),
    )
  })
})
