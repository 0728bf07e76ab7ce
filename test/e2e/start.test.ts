import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { isRunning } from '../fixtures/stdio/running.js'
import { type CliHome, cliHome, echo, printed, ROOT } from './built-cli.js'

const script = 'scripts/start.mjs'
const HERE = ['everything', 'files', 'notes']
const WORKSHOP = ['files', 'notes'].map((name) => `${name} (environment workshop)`)
const TOLD = [...HERE, ...WORKSHOP]

beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(ROOT, 'scripts', 'setup.mjs')], { cwd: ROOT })
}, 300_000)

async function started(home: CliHome) {
  const program = home.start(['--http', '127.0.0.1:0'], { script })
  const [, url = ''] = await printed(program, /^endpoint\s+(http:\S+)$/m)
  const [, token = ''] = await printed(program, /REEVE_TOKEN=(\S+)$/m)
  const client = async () => {
    // Declares no roots: the filesystem server would serve those instead of its own folder.
    const connected = new Client({ name: 'start-test', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await connected.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
    return connected
  }
  return { program, client }
}

const toolsOf = (name: string) => new RegExp(`^${name.replace(/[()]/g, '\\$&')}\\s+\\d+ tools$`, 'm')

/** Everything that this process has started, and what these have started in turn. */
async function descendants(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid='])
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const below = (pid: number): number[] =>
    pairs.flatMap(([child, its]) => (its === pid && child !== undefined ? [child, ...below(child)] : []))
  return below(parent)
}

/** The processes that the journal in the home tells of. */
function leaders(home: CliHome): number[] {
  const folder = join(home.folder, 'run')
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).leader.pid)
}

describe('npm start without a configuration', () => {
  it('serves the demo servers, and leaves none of them behind at Ctrl-C', async () => {
    await using home = await cliHome()
    const { program, client } = await started(home)
    for (const name of TOLD) await printed(program, toolsOf(name))
    const connected = await client()
    const names = async () => (await connected.listTools()).tools.map(({ name }) => name)
    // What takes longer than the list waits for comes with the next one.
    for (const name of ['everything__echo', 'files__read_text_file', 'workshop__files__read_text_file'])
      await expect.poll(names, { timeout: 20_000 }).toContain(name)
    const folder = join(home.folder, 'demo')
    const read = async (name: string, path: string) =>
      (await connected.callTool({ name, arguments: { path } })).content as { text: string }[]
    const [welcome] = await read('files__read_text_file', join(folder, 'files', 'welcome.md'))
    expect(welcome?.text).toContain('Welcome to Reeve')
    const workbench = join(folder, 'workshop', 'files', 'workbench.md')
    expect((await read('workshop__files__read_text_file', workbench))[0]?.text).toContain('another environment')
    expect((await read('files__read_text_file', workbench))[0]?.text).toContain('denied')

    const entities = [{ name: 'reeve', entityType: 'officer', observations: ['keeps the shire'] }]
    await connected.callTool({ name: 'notes__create_entities', arguments: { entities } })
    const graph = async (name: string) => JSON.stringify(await connected.callTool({ name, arguments: {} }))
    expect(await graph('notes__read_graph')).toContain('keeps the shire')
    expect(await graph('workshop__notes__read_graph')).not.toContain('keeps the shire')
    expect(existsSync(join(folder, 'notes.jsonl'))).toBe(true)

    const servers = leaders(home)
    // Three servers, and what leads to the executor, which ends its own.
    expect(servers.length).toBeGreaterThan(3)
    expect(servers.every(isRunning)).toBe(true)
    program.child.kill('SIGINT')
    expect(await program.exited).toEqual({ code: 130, signal: null })
    expect(servers.some(isRunning)).toBe(false)
    expect(leaders(home)).toEqual([])
  })

  it('takes the second environment with all that runs there along when it is killed', async () => {
    await using home = await cliHome()
    const { program, client } = await started(home)
    for (const name of TOLD) await printed(program, toolsOf(name))
    // A client that never leaves, so that its servers are up.
    const connected = await client()
    const names = async () => (await connected.listTools()).tools.map(({ name }) => name)
    await expect.poll(names, { timeout: 20_000 }).toContain('workshop__notes__read_graph')
    const family = await descendants(program.child.pid ?? 0)
    expect(family.length).toBeGreaterThan(TOLD.length)
    program.child.kill('SIGKILL')
    await program.exited
    await expect.poll(() => family.filter(isRunning), { timeout: 20_000 }).toEqual([])
  }, 60_000)

  it('keeps what the user changed in the demo folder', async () => {
    await using home = await cliHome()
    const first = await started(home)
    const file = join(home.folder, 'demo', 'files', 'groceries.md')
    first.program.child.kill('SIGTERM')
    await first.program.exited
    writeFileSync(file, 'pears')
    await started(home)
    expect(readFileSync(file, 'utf8')).toBe('pears')
    expect(existsSync(join(home.folder, 'config.toml'))).toBe(false)
  })

  it('writes a configuration that every other verb takes', async () => {
    await using home = await cliHome()
    const { program } = await started(home)
    for (const name of TOLD) await printed(program, toolsOf(name))
    const reeve = (...args: string[]) => home.reeve(['--config', join('demo', 'embedded.toml'), ...args])
    const { tools } = JSON.parse((await reeve('tools', '--json')).stdout)
    expect(new Set(tools.map(({ server }: { server: string }) => server))).toEqual(new Set(HERE))
    expect((await reeve('call', 'everything', 'echo', 'message=hi')).stdout).toBe('Echo: hi\n')
    const files = join(home.folder, 'demo', 'workshop', 'files')
    const there = await reeve('call', 'files', '--env', 'workshop', 'list_directory', `path=${files}`)
    expect(there.stdout).toContain('workbench.md')
    const { resources } = JSON.parse((await reeve('resources', 'everything', '--json')).stdout)
    const { uri } = resources[0].resource
    expect((await reeve('read', 'everything', uri)).code).toBe(0)
    expect((await reeve('prompts', 'everything')).stdout).toMatch(/^everything +\S+/m)
    expect(await reeve('doctor', '--quiet')).toMatchObject({ code: 0 })
  })
})

describe('npm start with a configuration', () => {
  it('serves that, and makes no demo', async () => {
    await using home = await cliHome({ notes: echo() })
    const { program, client } = await started(home)
    await printed(program, /^notes\s+\d+ tools$/m)
    const { tools } = await (await client()).listTools()
    expect(tools.every(({ name }) => name.startsWith('notes__'))).toBe(true)
    expect(existsSync(join(home.folder, 'demo'))).toBe(false)
  })

  it('takes a file that is named instead', async () => {
    await using home = await cliHome()
    writeFileSync(join(home.folder, 'mine.json'), JSON.stringify({ mcpServers: { mine: echo() } }))
    const program = home.start(['--http', '127.0.0.1:0', '--config', 'mine.json'], { script })
    await printed(program, /^mine\s+\d+ tools$/m)
    expect(existsSync(join(home.folder, 'demo'))).toBe(false)
  })

  it('passes arguments on through npm', async () => {
    await using home = await cliHome({ notes: echo() })
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
    const env = { ...process.env, HOME: home.folder, REEVE_HOME: home.folder }
    const { stdout } = await promisify(execFile)(npm, ['start', '--silent', '--', '--help'], { cwd: ROOT, env })
    expect(stdout).toContain('Usage: reeve serve')
  })
})
