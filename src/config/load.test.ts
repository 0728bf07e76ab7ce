import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LoadConfigOptions, loadConfig } from './load.js'
import { MAX_CONFIG_BYTES } from './source/read-text.js'

let root: string
let home: string
let project: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reeve-config-'))
  home = join(root, 'home')
  project = join(root, 'work', 'app')
  mkdirSync(home)
  mkdirSync(join(project, 'src'), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(file: string, text: string | Buffer): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}
const user = (text: string) => write(join(home, 'config.toml'), text)
const ofProject = (text: string) => write(join(project, '.reeve', 'config.toml'), text)
const trust = () => `[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`
const load = (options: LoadConfigOptions = {}) =>
  loadConfig({ home, cwd: join(project, 'src'), env: {}, requirementsFile: join(root, 'none.toml'), ...options })

describe('layers', () => {
  it('is empty, without a problem, on a machine without any file', async () => {
    const { servers, problems, files } = await load()
    expect({ servers, problems }).toEqual({ servers: [], problems: [] })
    expect(files).toEqual([{ path: join(home, 'config.toml'), layer: 'user', exists: false, trusted: true }])
  })

  it('reads the user file and says where each entry stands', async () => {
    const file = user('# mine\n\n[mcp_servers.b]\ncommand = "b"\n[mcp_servers]\na = { command = "a" }\n')
    const { servers } = await load()
    expect(servers.map(({ name, origin }) => [name, origin])).toEqual([
      ['a', { file, layer: 'user', line: 6 }],
      ['b', { file, layer: 'user', line: 3 }],
    ])
  })

  it('names an untrusted project, with the command that trusts it, and takes nothing from it', async () => {
    const file = ofProject('[mcp_servers.x]\ncommand = "x"\n')
    const { servers, problems, files } = await load()
    expect(servers).toEqual([])
    expect(problems).toMatchObject([{ code: 'untrusted_project', severity: 'warning', place: file }])
    expect(problems[0]?.message).toContain(`reeve config trust ${project}`)
    expect(files.at(-1)).toEqual({ path: file, layer: 'project', exists: true, trusted: false })
  })

  it('says nothing about a project that the user distrusts by name', async () => {
    ofProject('[mcp_servers.x]\ncommand = "x"\n')
    user(trust().replace('"trusted"', '"untrusted"'))
    expect((await load()).problems).toEqual([])
  })

  it('puts a trusted project over the user, by whole entries, and reports what that hides', async () => {
    const below = user(`[mcp_servers.x]\ncommand = "mine"\nargs = ["a"]\n[mcp_servers.y]\ncommand = "y"\n${trust()}`)
    const above = ofProject('[mcp_servers.x]\ncommand = "theirs"\n')
    const { servers, shadowed } = await load()
    expect(servers.map(({ name, config }) => [name, config.transport])).toMatchObject([
      ['x', { command: 'theirs', args: [] }],
      ['y', { command: 'y' }],
    ])
    expect(shadowed).toEqual([
      { name: 'x', origin: { file: below, layer: 'user', line: 1 }, by: { file: above, broken: false } },
    ])
  })

  it('does not fall back to a lower entry when the one over it is broken', async () => {
    user(`[mcp_servers.x]\ncommand = "mine"\n${trust()}`)
    const above = ofProject('[mcp_servers.x]\ncommand = 5\n')
    const { servers, shadowed } = await load()
    expect(servers).toEqual([])
    expect(shadowed).toMatchObject([{ name: 'x', by: { file: above, broken: true } }])
  })

  it('distrusts a project that is named both ways', async () => {
    const link = join(root, 'link')
    symlinkSync(project, link)
    user(`${trust()}${trust().replace(project, link).replace('"trusted"', '"untrusted"')}`)
    ofProject('[mcp_servers.x]\ncommand = "x"\n')
    expect(await load()).toMatchObject({ servers: [], problems: [] })
  })

  it('tells a project file that is a link to itself', async () => {
    user(trust())
    mkdirSync(join(project, '.reeve'))
    symlinkSync('config.toml', join(project, '.reeve', 'config.toml'))
    expect((await load()).problems).toMatchObject([{ code: 'unreadable' }])
  })

  it('trusts a project through a link to it', async () => {
    const link = join(root, 'link')
    symlinkSync(project, link)
    user(trust().replace(project, link))
    ofProject('[mcp_servers.x]\ncommand = "x"\n')
    expect((await load({ cwd: link })).servers).toHaveLength(1)
  })

  it('never takes the home of the user for a project', async () => {
    const own = join(root, 'work', '.reeve')
    write(join(own, 'config.toml'), '[mcp_servers.x]\ncommand = "x"\n')
    const { files, problems } = await load({ home: own })
    expect(files.map(({ layer }) => layer)).toEqual(['user'])
    expect(problems).toEqual([])
  })

  it('lets a project not say that it is trusted, nor where tokens are kept', async () => {
    user(`mcp_oauth_credentials_store = "keyring"\ncli_auth_credentials_store = "auto"\n${trust()}`)
    ofProject(
      'mcp_oauth_credentials_store = "file"\ncli_auth_credentials_store = "file"\n[projects."/other"]\ntrust_level = "trusted"\n',
    )
    expect((await load()).oauth).toEqual({ credentialsStore: 'keyring', firstPartyStore: 'auto' })
  })

  it('reads only the files that are named, later ones over earlier ones', async () => {
    user('[mcp_servers.mine]\ncommand = "mine"\n')
    const one = write(join(root, 'one.toml'), '[mcp_servers.x]\ncommand = "one"\n')
    const two = write(join(root, 'two.json'), '{"mcpServers": {"x": {"command": "two"}}}')
    const { servers, shadowed } = await load({ files: [one, two] })
    expect(servers).toMatchObject([{ name: 'x', origin: { file: two, layer: 'file', line: 1 } }])
    expect(shadowed).toMatchObject([{ name: 'x', origin: { file: one } }])
  })

  it('reports a named file that is not there', async () => {
    const { problems, files } = await load({ files: [join(root, 'nope.toml')] })
    expect(problems).toMatchObject([{ code: 'not_found', severity: 'error', place: join(root, 'nope.toml') }])
    expect(files).toMatchObject([{ exists: false }])
  })
})

describe('one fault', () => {
  it('of a server is one problem, and its siblings survive', async () => {
    const file = user('[mcp_servers.a]\ncommand = "a"\n\n[mcp_servers.b]\ncommand = "b"\nargs = "no"\n')
    const { servers, problems } = await load()
    expect(servers.map(({ name }) => name)).toEqual(['a'])
    expect(problems).toEqual([
      {
        severity: 'error',
        code: 'wrong_type',
        message: 'invalid type: string, expected a sequence',
        place: `${file}:6:1 mcp_servers.b.args`,
        path: ['mcp_servers', 'b', 'args'],
        server: 'b',
      },
    ])
  })

  it('of a section leaves the others', async () => {
    user('mcp_oauth_callback_port = 70000\nfeatures = 3\n[mcp_servers.a]\ncommand = "a"\n')
    const { servers, problems } = await load()
    expect(servers).toHaveLength(1)
    expect(problems.map(({ path }) => path)).toEqual([['features'], ['mcp_oauth_callback_port']])
  })

  it('of the file is told with line and column, and other files still count', async () => {
    const broken = write(join(root, 'half.toml'), '[mcp_servers.a]\ncommand = "a\n')
    const whole = write(join(root, 'whole.toml'), '[mcp_servers.b]\ncommand = "b"\n')
    const { servers, problems } = await load({ files: [broken, whole] })
    expect(servers.map(({ name }) => name)).toEqual(['b'])
    expect(problems).toMatchObject([{ severity: 'error', code: 'syntax' }])
    expect(problems[0]?.place).toMatch(/half\.toml:2:\d+$/)
  })

  it('is an unknown member, with the nearest one that is known', async () => {
    const file = user('mcp_server = 1\n[mcp_servers.a]\ncommand = "a"\nenviroment_id = "x"\n')
    const { problems, servers } = await load()
    expect(servers).toHaveLength(1)
    expect(problems.map(({ message, severity, place }) => [severity, message, place])).toEqual([
      [
        'warning',
        'unknown configuration field `mcp_servers.a.enviroment_id`; did you mean `environment_id`?',
        `${file}:4:1 mcp_servers.a.enviroment_id`,
      ],
      ['warning', 'unknown configuration field `mcp_server`; did you mean `mcp_servers`?', `${file}:1:1 mcp_server`],
    ])
    expect((await load({ strict: true })).problems.map(({ severity }) => severity)).toEqual(['error', 'error'])
  })

  it.each([
    ['[mcp_servers."bad name!"]\ncommand = "a"\n', 'invalid_server_name'],
    ['[mcp_servers.codex_apps]\ncommand = "a"\n', 'reserved_name'],
    ['[mcp_servers.a]\ncommand = ""\n', 'empty_command'],
    ['[mcp_servers.a]\nurl = "nope"\n', 'invalid_url'],
    ['[mcp_servers.a]\ncommand = "a"\nexperimental_environment = "remote"\n', 'legacy_member'],
    ['[mcp_servers.a]\nurl = "http://h/"\nauth = "ema_auth"\n', 'unsupported_auth'],
    ['[mcp_servers.a]\ncommand = "a"\nenvironment_id = "devbox"\n', 'missing_cwd'],
  ])('that would show at startup only is a warning at load: %j', async (text, code) => {
    user(text)
    const { problems, servers } = await load()
    expect(servers).toHaveLength(1)
    expect(problems).toMatchObject([{ severity: 'warning', code }])
  })
})

describe('a sandbox that a server asks for', () => {
  it('has no network unless the entry says so', async () => {
    user(
      [
        '[mcp_servers.a]\ncommand = "c"\nsandbox = "workspace-write"',
        '[mcp_servers.b]\ncommand = "c"\nsandbox = "read-only"\nsandbox_network = true',
        '[mcp_servers.c]\ncommand = "c"\nsandbox = "danger-full-access"',
        '[mcp_servers.d]\ncommand = "c"\n',
      ].join('\n\n'),
    )
    const { servers, problems } = await load()
    expect(problems).toEqual([])
    expect(
      servers.map(({ config: { transport } }) => (transport.type === 'stdio' ? transport.sandbox : 'no stdio')),
    ).toEqual([
      { mode: 'workspace-write', network: false },
      { mode: 'read-only', network: true },
      { mode: 'danger-full-access', network: true },
      undefined,
    ])
  })

  it.each([
    ['of a mode that there is not', 'command = "c"\nsandbox = "workspace"', 'unknown_value'],
    ['of a server over HTTP', 'url = "http://127.0.0.1:1/"\nsandbox = "read-only"', 'member_not_supported'],
    ['that is none, with a network', 'command = "c"\nsandbox_network = true', 'invalid_value'],
  ])('is refused with the server, %s', async (_which, members, code) => {
    user(`[mcp_servers.a]\n${members}\n\n[mcp_servers.b]\ncommand = "c"\n`)
    const { servers, problems } = await load()
    expect(servers.map(({ name }) => name)).toEqual(['b'])
    expect(problems).toMatchObject([{ severity: 'error', code, server: 'a' }])
  })
})

describe('the protocol era of a server', () => {
  it('is found out unless the entry says it', async () => {
    user(
      ['legacy', 'modern', 'auto', undefined]
        .map((era, index) => `[mcp_servers.s${index}]\ncommand = "a"\n${era ? `protocol = "${era}"\n` : ''}`)
        .join(''),
    )
    const { servers, problems } = await load()
    expect(problems).toEqual([])
    expect(servers.map(({ config }) => config.protocol)).toEqual(['legacy', 'modern', undefined, undefined])
  })

  it('is one that there is', async () => {
    user('[mcp_servers.a]\ncommand = "a"\nprotocol = "2026-07-28"\n')
    expect((await load()).problems).toMatchObject([{ severity: 'error', code: 'unknown_value' }])
  })
})

describe('errors', () => {
  it('quote no text that may be a secret, and nothing at length', async () => {
    user(`[mcp_servers.a]
command = "a"
env = "SECRET=s3cr3t"
[mcp_servers.b]
command = "b"
startup_readiness = "${'x'.repeat(100_000)}"
[mcp_servers.${'c'.repeat(100_000)}]
[mcp_servers.d]
url = "http://h/"
http_headers = { A = ["s3cr3t"] }
bearer_token = "s3cr3t"
`)
    const { problems } = await load()
    expect(problems).toHaveLength(4)
    for (const { message, place } of problems) expect(message + place).not.toMatch(/s3cr3t|.{500}/)
    expect((await load({ files: [write(join(root, 'x.toml'), 'env = "s3cr3t\n')] })).problems[0]).not.toHaveProperty(
      'cause',
    )
  })
})

describe('an odd file', () => {
  it.each<[string, string, (file: string) => unknown]>([
    ['a folder', 'is_directory', (file) => mkdirSync(file)],
    ['binary', 'binary_file', (file) => writeFileSync(file, Buffer.from([1, 0, 2]))],
    ['UTF-16', 'binary_file', (file) => writeFileSync(file, Buffer.from('\ufeff[a]\n', 'utf16le'))],
    ['not UTF-8', 'not_utf8', (file) => writeFileSync(file, Buffer.from([0x61, 0xff, 0xfe]))],
    ['too large', 'too_large', (file) => writeFileSync(file, Buffer.alloc(MAX_CONFIG_BYTES + 1, 0x20))],
    ['a device', 'not_a_file', (file) => symlinkSync('/dev/zero', file)],
    ['a link to itself', 'unreadable', (file) => symlinkSync(file, file)],
  ])('that is %s is one problem', async (_, code, make) => {
    const file = join(root, 'odd.toml')
    make(file)
    const good = write(join(root, 'good.toml'), '[mcp_servers.a]\ncommand = "a"\n')
    const { problems, servers } = await load({ files: [file, good] })
    expect(problems).toMatchObject([{ severity: 'error', code, place: file }])
    expect(servers).toHaveLength(1)
  })

  it.skipIf(process.getuid?.() === 0)('that may not be read is one problem', async () => {
    chmodSync(user('a = 1'), 0)
    expect((await load()).problems).toMatchObject([{ code: 'unreadable' }])
  })

  it('with a byte order mark and Windows line ends is read', async () => {
    user('\ufeff[mcp_servers.a]\r\ncommand = "a"\r\n\r\n[mcp_servers.b]\r\ncommand = "b"\r\n')
    const { servers, problems } = await load()
    expect(problems).toEqual([])
    expect(servers.map(({ origin }) => origin.line)).toEqual([1, 4])
  })

  it.each([
    ['{"mcpServers": ', 'syntax'],
    ['[1]', 'wrong_type'],
    ['', 'syntax'],
    ['{"mcpServer": {}}', 'no_servers'],
    [`{"a": ${'['.repeat(100_000)}`, 'too_deep'],
  ])('of JSON is one problem: %.20s', async (text, code) => {
    const file = write(join(root, 'odd.json'), text)
    expect((await load({ files: [file] })).problems).toMatchObject([{ code, severity: 'error' }])
  })
})

describe('prototype names', () => {
  it.each(['__proto__', 'constructor', 'toString'])('are names like others: %s', async (name) => {
    user(
      `[mcp_servers.${name}]\ncommand = "a"\n[mcp_servers.${name}.env]\n${name} = "v"\n[mcp_servers.${name}.tools.${name}]\n`,
    )
    const json = write(join(root, 'a.json'), `{"mcpServers": {"${name}": {"command": "a", "env": {"${name}": "v"}}}}`)
    for (const { servers, problems } of [await load(), await load({ files: [json] })]) {
      expect(problems).toEqual([])
      expect(servers.map((server) => server.name)).toEqual([name])
      const transport = servers[0]?.config.transport
      expect(transport?.type === 'stdio' && Object.entries(transport.env)).toEqual([[name, 'v']])
    }
  })
})
