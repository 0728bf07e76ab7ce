import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { captureRun } from '../../../test/captured-cli.js'

let root: string
let home: string
let cwd: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reeve-verbs-'))
  home = join(root, 'home', '.reeve')
  cwd = join(root, 'app')
  mkdirSync(cwd, { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const reeve = (...args: string[]) =>
  captureRun(args, {
    env: { HOME: join(root, 'home'), USERPROFILE: join(root, 'home'), REEVE_HOME: home, TOKEN: 'the-secret' },
    cwd,
  }).ended

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}
const user = (text: string) => write(join(home, 'config.toml'), text)
const config = () => readFileSync(join(home, 'config.toml'), 'utf8')

describe('reeve list', () => {
  it('says how to begin when nothing is configured, and makes no file', async () => {
    expect(await reeve('list')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('reeve add') })
    expect((await reeve('list', '--json')).json()).toEqual([])
    expect(existsSync(home)).toBe(false)
  })

  it('shows one table per transport, masked, and the order of names', async () => {
    user(`
[mcp_servers.z]
command = "npx"
args = ["-y", "z"]
env = { KEY = "v1" }
env_vars = ["PASSED"]
[mcp_servers.a]
command = "a"
enabled = false
[mcp_servers.web]
url = "https://h/mcp"
bearer_token_env_var = "TOKEN"
`)
    const { code, stdout } = await reeve('list')
    expect(code).toBe(0)
    expect(stdout.split('\n').map((line) => line.replace(/ {2,}/g, ' | ').trim())).toEqual([
      'NAME | COMMAND | ARGS | ENV | CWD | STATUS | AUTH',
      'a | a | - | - | - | disabled | Unsupported',
      'z | npx | -y z | KEY=*****, PASSED=***** | - | enabled | Unsupported',
      '',
      'NAME | URL | BEARER TOKEN ENV VAR | STATUS | AUTH',
      'web | https://h/mcp | TOKEN | enabled | Bearer token',
      '',
    ])
  })

  it('never gives away what a variable holds, and literal secrets only when asked', async () => {
    user(
      `[mcp_servers.a]\nurl = "https://h/?token=\${TOKEN}"\nhttp_headers = { A = "Bearer \${TOKEN}", B = "literal" }\n`,
    )
    for (const args of [['list'], ['list', '--json'], ['get', 'a'], ['get', 'a', '--json']]) {
      const masked = await reeve(...args)
      expect(masked.stdout).not.toMatch(/the-secret|literal/)
      expect((await reeve(...args, '--show-secrets')).stdout).not.toContain('the-secret')
    }
    expect((await reeve('get', 'a', '--json', '--show-secrets')).json().transport.http_headers).toEqual({
      A: `Bearer \${TOKEN}`,
      B: 'literal',
    })
  })

  it('lists what is sound beside what is broken, and fails', async () => {
    user('[mcp_servers.good]\ncommand = "c"\n[mcp_servers.bad]\ncommand = 5\n')
    const { code, json, stderr } = await reeve('list', '--json')
    expect(code).toBe(1)
    expect(json().map(({ name }: { name: string }) => name)).toEqual(['good'])
    expect(stderr).toContain(`error: ${join(home, 'config.toml')}:4:1 mcp_servers.bad.command: invalid type: integer`)
  })

  it('tells what is hidden by a later file', async () => {
    const one = write(join(root, 'one.toml'), '[mcp_servers.x]\ncommand = "1"\n')
    const two = write(join(root, 'two.toml'), '[mcp_servers.x]\ncommand = "2"\n')
    const { stdout, stderr } = await reeve('--config', one, '--config', two, 'list')
    expect(stdout).toContain(' 2 ')
    expect(stderr).toContain(`'x' of ${one} is not used: ${two} has that name too`)
  })
})

describe('reeve get', () => {
  it('shows every setting', async () => {
    user(`[mcp_servers.a]
command = "c"
startup_timeout_sec = 2.5
tool_timeout_sec = 30
default_tools_approval_mode = "prompt"
enabled_tools = ["t"]
tools.t = { approval_mode = "approve", output_token_limit = 10 }
`)
    expect((await reeve('get', 'a')).stdout).toBe(`a
  enabled: true
  enabled_tools: t
  transport: stdio
  command: c
  args: -
  cwd: -
  env: -
  environment_id: local
  startup_timeout_sec: 2.5
  tool_timeout_sec: 30
  default_tools_approval_mode: prompt
  tools.t: approve, 10 tokens
  source: ${join(home, 'config.toml')}:1
  remove: reeve remove a
`)
    expect((await reeve('get', 'a', '--json')).json()).toMatchObject({
      name: 'a',
      startup_timeout_sec: 2.5,
      tool_timeout_sec: 30,
      tools: { t: { approval_mode: 'approve', output_token_limit: 10 } },
      source: { file: join(home, 'config.toml'), layer: 'user', line: 1 },
    })
  })

  it('fails for an unknown name with the closest one, and for a broken entry with its fault', async () => {
    user('[mcp_servers.notes]\ncommand = "c"\n[mcp_servers.bad]\nenabled = true\n')
    expect(await reeve('get', 'ntoes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Did you mean 'notes'?"),
    })
    expect(await reeve('get', 'bad')).toMatchObject({ code: 1, stderr: expect.stringContaining('invalid transport') })
  })
})

describe('reeve add', () => {
  it('writes a program with its arguments as they are after --', async () => {
    const { code, stdout } = await reeve(
      'add',
      'fs',
      '--env',
      'A=1=2',
      '--env-var',
      'B',
      '--',
      'npx',
      '-y',
      'x',
      '--json',
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: `added 'fs' in ${join(home, 'config.toml')}\n` })
    expect(config()).toBe(
      '[mcp_servers.fs]\ncommand = "npx"\nargs = ["-y", "x", "--json"]\nenv_vars = ["B"]\n\n[mcp_servers.fs.env]\nA = "1=2"\n',
    )
  })

  it('writes an HTTP server', async () => {
    await reeve(
      'add',
      'web',
      '--url',
      'https://h/',
      '--header',
      'A: b: c',
      '--header',
      'X=y',
      '--tool-timeout',
      '2',
      '--required',
    )
    expect(config()).toBe(
      '[mcp_servers.web]\nurl = "https://h/"\nrequired = true\ntool_timeout_sec = 2\n\n[mcp_servers.web.http_headers]\nA = "b: c"\nX = "y"\n',
    )
    await reeve('add', 'old', '--url', 'https://h/', '--transport', 'sse')
    expect((await reeve('get', 'old', '--json')).json().transport.type).toBe('sse')
  })

  it('keeps what it is not told about, unless it is to replace', async () => {
    user('[mcp_servers.x]\ncommand = "a"\ntools.t.approval_mode = "prompt"\n')
    expect((await reeve('add', 'x', '--env', 'A=1', '--', 'b')).stdout).toContain("changed 'x'")
    expect(config()).toContain('approval_mode = "prompt"')
    expect((await reeve('add', 'x', '--replace', '--', 'b')).stdout).toContain("replaced 'x'")
    expect(config()).toBe('[mcp_servers.x]\ncommand = "b"\n')
    expect((await reeve('add', 'x', '--json', '--', 'b')).json()).toMatchObject({ outcome: 'unchanged' })
  })

  it.each([
    [['add', 'x'], 2, 'give a command'],
    [['add', 'x', '--url', 'http://h/', '--', 'c'], 2, 'not both'],
    [['add', 'x', '--url', 'http://h/', '--env', 'A=1'], 2, '--env does not go with --url'],
    [['add', 'x', '--header', 'A: b', '--', 'c'], 2, '--header does not go with a command'],
    [['add', 'x', '--env', 'SECRET', '--', 'c'], 2, '--env takes KEY=VALUE'],
    [['add', 'x', '--tool-timeout', 'soon', '--', 'c'], 2, 'number of seconds'],
    [['add', 'x', '--scope', 'world', '--', 'c'], 2, "'user' or 'project'"],
    [['add', 'bad name', '--', 'c'], 1, 'Invalid MCP server name'],
  ])('refuses %j', async (args, code, message) => {
    expect(await reeve(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) })
    expect(existsSync(join(home, 'config.toml'))).toBe(false)
  })

  it('refuses a half-written file and leaves it', async () => {
    user('[mcp_servers.x\n')
    expect(await reeve('add', 'y', '--', 'c')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('config.toml:1:'),
    })
    expect(config()).toBe('[mcp_servers.x\n')
  })

  it('writes to the project, and says that it is not trusted yet', async () => {
    const { code, stderr } = await reeve('add', 'x', '--scope', 'project', '--', 'c')
    expect(code).toBe(0)
    expect(readFileSync(join(cwd, '.reeve', 'config.toml'), 'utf8')).toContain('[mcp_servers.x]')
    expect(stderr).toContain('reeve config trust')
    expect((await reeve('list', '--json')).json()).toEqual([])
    expect(await reeve('config', 'trust')).toMatchObject({ code: 0 })
    expect((await reeve('list', '--json')).json()).toMatchObject([{ name: 'x', source: { layer: 'project' } }])
    await reeve('config', 'trust', cwd, '--revoke')
    expect((await reeve('list', '--json')).json()).toEqual([])
  })
})

describe('reeve enable, disable, remove', () => {
  it('change the file whose entry counts', async () => {
    user(`[mcp_servers.x]\ncommand = "user"\n[projects.${JSON.stringify(cwd)}]\ntrust_level = "trusted"\n`)
    const project = write(join(cwd, '.reeve', 'config.toml'), '[mcp_servers.x]\ncommand = "project" # why\n')
    expect((await reeve('disable', 'x')).stdout).toBe(`disabled 'x' in ${project}\n`)
    expect(readFileSync(project, 'utf8')).toBe('[mcp_servers.x]\ncommand = "project" # why\nenabled = false\n')
    expect((await reeve('enable', 'x', '--json')).json()).toEqual({
      name: 'x',
      enabled: true,
      changed: true,
      file: project,
    })
    const removed = await reeve('remove', 'x')
    expect(removed.stdout).toBe(`removed 'x' from ${project}\n`)
    expect(removed.stderr).toContain(`'x' of ${join(home, 'config.toml')} counts now`)
    expect((await reeve('remove', 'x', '--scope', 'user')).code).toBe(0)
    expect(config()).not.toContain('[mcp_servers.x]')
  })

  it('work on a broken entry too', async () => {
    user('[mcp_servers.x]\ncommand = 5\n')
    expect((await reeve('remove', 'x')).code).toBe(0)
    expect(config()).toBe('')
  })

  it.each([['remove'], ['enable'], ['disable']])('%s fails for an unknown name with the closest one', async (verb) => {
    user('[mcp_servers.notes]\ncommand = "c"\n')
    expect(await reeve(verb, 'note')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Did you mean 'notes'?"),
    })
  })

  it('remove succeeds for an unknown name when asked to', async () => {
    expect((await reeve('remove', 'x', '--ignore-missing', '--json')).json()).toEqual({
      name: 'x',
      removed: false,
      file: null,
    })
  })

  it('refuse a JSON file of another program by name', async () => {
    const file = write(join(root, 'mcp.json'), '{"mcpServers": {"x": {"command": "c"}}}')
    expect(await reeve('--config', file, 'disable', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(file),
    })
    expect(await reeve('--config', file, 'add', 'y', '--', 'c')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('reeve import'),
    })
    expect(readFileSync(file, 'utf8')).toBe('{"mcpServers": {"x": {"command": "c"}}}')
  })
})

describe('reeve import', () => {
  beforeEach(() => {
    const servers = { a: { command: 'c', env: { KEY: 'literal' } }, b: { type: 'http', url: 'http://h/' } }
    write(join(root, 'home', '.claude.json'), JSON.stringify({ mcpServers: servers }))
    write(join(root, 'home', '.cursor', 'mcp.json'), '{"mcpServers": {"a": {"command": "other"}}}')
  })

  it('shows what would happen, without secrets and without writing', async () => {
    const { code, stdout, stderr } = await reeve('import', '--dry-run')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^a +Claude Code +imported/m)
    expect(stdout).toMatch(/^a +Cursor +left out .*--rename takes it as 'a-cursor'$/m)
    expect(stderr).toContain('would import 2 of 3')
    expect(existsSync(join(home, 'config.toml'))).toBe(false)
    const json = await reeve('import', '--dry-run', '--json')
    expect(json.stdout).not.toContain('literal')
    expect(json.json().servers.map(({ name, outcome }: { name: string; outcome: string }) => [name, outcome])).toEqual([
      ['a', 'import'],
      ['b', 'import'],
      ['a', 'conflict'],
    ])
  })

  it('writes, once', async () => {
    expect((await reeve('import', '--rename')).stderr).toContain('imported 3 of 3')
    expect((await reeve('list', '--json')).json().map(({ name }: { name: string }) => name)).toEqual([
      'a',
      'a-cursor',
      'b',
    ])
    const before = config()
    expect((await reeve('import', 'claude-code')).stderr).toContain('imported 0 of 2')
    expect(config()).toBe(before)
  })

  it('fails for a client without configuration, an unknown client, and what it cannot read', async () => {
    expect(await reeve('import', 'windsurf')).toMatchObject({ code: 1, stderr: expect.stringContaining('Windsurf') })
    expect(await reeve('import', 'claude')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'claude-code'?"),
    })
    write(join(root, 'home', '.cursor', 'mcp.json'), '{')
    expect(await reeve('import', 'cursor')).toMatchObject({ code: 1, stderr: expect.stringContaining('mcp.json:1:2') })
  })
})

describe('reeve config', () => {
  it('check names every problem and counts them', async () => {
    user('[mcp_servers.a]\ncommand = "c"\nzzz = 1\n')
    const file = join(home, 'config.toml')
    expect(await reeve('config', 'check')).toEqual({
      code: 0,
      stdout: `${file}: 1 server, 0 errors, 1 warning\n`,
      stderr: `warning: ${file}:3:1 mcp_servers.a.zzz: unknown configuration field \`mcp_servers.a.zzz\`\n`,
      json: expect.any(Function),
    })
    expect(await reeve('config', 'check', '--strict')).toMatchObject({ code: 1 })
    expect((await reeve('config', 'check', '--json')).json()).toMatchObject({
      ok: true,
      servers: ['a'],
      problems: [{}],
    })
  })

  it('check, and doctor too, name a hook that waits to be trusted', async () => {
    const file = write(
      join(root, 'hooks.toml'),
      '[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "x" }]\n',
    )
    for (const verb of [
      ['config', 'check'],
      ['doctor', '--no-start'],
    ]) {
      const { stdout, stderr } = await reeve('--config', file, ...verb)
      expect(stdout + stderr).toContain('this PreToolUse hook is not trusted')
    }
  })

  it('schema describes what is accepted', async () => {
    const { json } = await reeve('config', 'schema')
    expect(json()).toMatchObject({ $schema: expect.stringContaining('2020-12') })
    expect(Object.keys(json().properties.mcp_servers.additionalProperties.properties)).toEqual(
      expect.arrayContaining(['command', 'url', 'tools', 'environment_id']),
    )
  })

  it('path names the file that add would change', async () => {
    expect((await reeve('config', 'path')).stdout).toBe(`${join(home, 'config.toml')}\n`)
    expect((await reeve('config', 'path', '--json')).json()).toMatchObject({ home, files: [{ exists: false }] })
  })

  it('path names where environments stand, too', async () => {
    const file = join(home, 'environments.toml')
    for (const text of ['[[environments]]\nid = "a"\nurl = "wss://h"\n', 'broken']) {
      mkdirSync(home, { recursive: true })
      writeFileSync(file, text)
      expect((await reeve('config', 'path')).stdout).toBe(`${join(home, 'config.toml')}\n${file}\n`)
      expect((await reeve('config', 'path', '--json')).json()).toMatchObject({ environments: [file] })
    }
  })

  it.each([
    [['config', 'trsut'], 2],
    [['config', 'trust', 'nowhere'], 2],
  ])('refuses %j', async (args, code) => {
    expect((await reeve(...args)).code).toBe(code)
  })
})
