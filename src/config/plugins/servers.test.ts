import { describe, expect, it } from 'vitest'
import type { StdioServer } from '../server.js'
import { emptyTable, isTable, type RawTable, rawCopy } from '../source/raw.js'
import { readExecutorConfig } from './executor-config.js'
import { readPluginManifest } from './manifest.js'
import { type PluginPlace, readPluginServers } from './servers.js'

const HOST: PluginPlace = { root: '/plugins/b', environmentId: null }
const REMOTE: PluginPlace = { root: '/plugins/b', environmentId: 'enva' }
const LOCAL: PluginPlace = { root: '/plugins/b', environmentId: 'local' }

function read(server: unknown, place: PluginPlace) {
  const document = rawCopy({ mcpServers: { x: server, sibling: { command: 'c' } } })
  const result = readPluginServers(isTable(document) ? document : emptyTable(), place)
  expect(result.servers.has('sibling')).toBe(true)
  return { ...result, config: result.servers.get('x'), error: result.errors.get('x')?.message }
}
const stdio = (server: unknown, place: PluginPlace) => read(server, place).config?.transport as StdioServer | undefined

describe('servers of a plugin', () => {
  it('may be declared bare, or under mcpServers beside other members', () => {
    const bare: RawTable = { x: { command: 'c' } }
    for (const document of [bare, { mcpServers: bare, version: 'v' }])
      expect([...readPluginServers(document, HOST).servers.keys()]).toEqual(['x'])
  })

  it.each<[string, PluginPlace, unknown, string | undefined]>([
    ['the root by default', REMOTE, undefined, '/plugins/b'],
    ['the root for null', REMOTE, null, '/plugins/b'],
    ['below the root', REMOTE, 'x/../y', '/plugins/b/y'],
    ['below the root, absolute', REMOTE, '/plugins/b/x', '/plugins/b/x'],
    ['below the root, as a URI', REMOTE, 'file:///plugins/b/x%20y', '/plugins/b/x y'],
    ['below a root of Windows', { root: 'C:\\p\\b', environmentId: 'enva' }, 'x', 'C:\\p\\b\\x'],
    ['nothing of the host by default', HOST, undefined, undefined],
    ['joined for the host', HOST, '../x', '/plugins/x'],
    ['as it is for the host', HOST, '/else', '/else'],
  ])('run in %s', (_, place, cwd, expected) => {
    expect(stdio({ command: 'c', cwd }, place)?.cwd).toBe(expected)
  })

  it.each(['..', '../b2', '/plugins', '/plugins/bb', '/plugins/b/../c', 'file:///plugins/b/..%2fc', 'x/../../c'])(
    'of an environment stay inside the root: %s',
    (cwd) => {
      expect(read({ command: 'c', cwd }, REMOTE).error).toBe(
        `cwd \`${cwd}\` must remain within plugin root \`file:///plugins/b\``,
      )
    },
  )

  it('take variables from their own machine alone', () => {
    const variables = ['A', { name: 'B' }, { name: 'C', source: 'remote' }]
    expect(stdio({ command: 'c', env_vars: variables }, REMOTE)?.envVars).toEqual([
      { name: 'A', source: 'remote' },
      { name: 'B', source: 'remote' },
      { name: 'C', source: 'remote' },
    ])
    expect(read({ command: 'c', env_vars: [{ name: 'A', source: 'local' }] }, REMOTE).error).toContain('`local`')
    expect(read({ command: 'c', env_vars: variables }, LOCAL).error).toContain('`remote`')
    expect(stdio({ command: 'c', env_vars: variables }, HOST)?.envVars).toEqual(variables)
    const headers = { url: 'http://h/', env_http_headers: { A: 'T' } }
    expect(read(headers, REMOTE).error).toContain('is not supported for a plugin')
    expect(read(headers, LOCAL).error).toBeUndefined()
    for (const place of [REMOTE, LOCAL])
      expect(read({ url: 'http://h/', bearer_token_env_var: 'T' }, place).error).toBeUndefined()
  })

  it.each([
    { command: 'c', sandbox: 'read-only' },
    { url: 'http://h/', sandbox_network: true },
  ])('have no sandbox in an environment: %j', (entry) => {
    expect(read(entry, REMOTE)).toMatchObject({ error: expect.stringMatching(/^.*sandbox.* is not supported/) })
  })

  it('belong to the environment of their root, whatever they say', () => {
    expect(read({ command: 'c', environment_id: 'other' }, REMOTE).config?.environmentId).toBe('enva')
    expect(read({ command: 'c', environment_id: 'other', cwd: '/' }, HOST).config?.environmentId).toBe('other')
  })

  it('lose members of other clients', () => {
    const { config, warnings } = read(
      { type: 'ws', url: 'http://h/', oauth: { clientId: 'i', callbackPort: 1 }, zzz: 1 },
      HOST,
    )
    expect(config?.transport).toMatchObject({ type: 'streamable_http', oauth: { clientId: 'i' } })
    expect(warnings.map(({ message }) => message)).toEqual([
      'unknown type "ws"',
      'oauth.callbackPort is ignored',
      'unknown configuration field `zzz`',
    ])
    expect(read({ url: 'http://h/', oauth: { callbackPort: 1 } }, HOST).config?.transport).not.toHaveProperty('oauth')
  })

  it.each([5, null, 'c', [], {}])('that say nothing of a transport are errors of their own: %j', (server) => {
    expect(read(server, REMOTE).error).toBe('invalid transport')
  })
})

describe('a manifest of a plugin', () => {
  it.each([
    ['{"name": "n"}', { kind: 'file', path: '.mcp.json', declared: false }],
    ['{"mcpServers": "./x.json"}', { kind: 'file', path: './x.json', declared: true }],
    ['{"mcpServers": {"x": {"command": "c"}}}', { kind: 'inline', servers: { x: { command: 'c' } } }],
  ])('says where its servers are: %s', (text, servers) => {
    expect(readPluginManifest('plugin.json', text).servers).toEqual(servers)
  })

  it.each([
    ['{bad', 'key must be a string at line 1 column 2'],
    ['{\n  "a": }', 'value expected at line 2 column 8'],
    ['', 'at line 1 column 1'],
    ['{"mcpServers": 3}', 'mcpServers is either'],
    ['{"mcpServers": "../x.json"}', 'must start with `./`'],
    ['{"mcpServers": "/x.json"}', 'must start with `./`'],
  ])('that is broken says where: %j', (text, message) => {
    expect(() => readPluginManifest('plugin.json', text)).toThrow(message)
  })
})

describe('the configuration of an executor', () => {
  it('adds HTTP servers, reports stdio servers as skipped, and is one problem when it is broken', () => {
    const layer = (toml: string) => ({ source: 'user (config.toml)', toml })
    const { servers, skipped } = readExecutorConfig(
      [layer('[mcp_servers.a]\ncommand = "c"\n[mcp_servers.b]\nurl = "http://h/"\nrequired = true\n')],
      'enva',
    )
    expect([...servers]).toMatchObject([['b', { environmentId: 'enva', required: false }]])
    expect(skipped).toEqual(['a'])
    const broken = readExecutorConfig([layer('[x'), layer('[mcp_servers.b]\nurl = "http://h/"\n')], 'enva')
    expect([...broken.servers.keys()]).toEqual(['b'])
    expect(broken.problems).toHaveLength(1)
  })

  it.each<[string, string | undefined, number]>([
    ['', undefined, 0],
    ['[plugins.p.mcp_servers.a.identity]\ncommand = "c"', undefined, 0],
    ['[plugins.p]\nmcp_servers = 5', undefined, 0],
    ['[mcp_servers.a.identity]\nurl = "http://h/"', 'a', 0],
    ['[mcp_servers]', '', 0],
    ['mcp_servers = 5', '', 1],
    ['[x', '', 1],
  ])('has requirements for its servers alone, and a broken one allows nothing: %j', (toml, names, faults) => {
    const read = readExecutorConfig([], 'enva', [{ source: 'requirements.toml', toml }])
    const lists = read.requirements.map(({ servers }) => [...(servers?.keys() ?? [])].join())
    expect(lists).toEqual(names === undefined ? [] : [names])
    expect(read.requirements.every(({ plugins }) => plugins === undefined)).toBe(true)
    expect(read.problems).toHaveLength(faults)
  })

  it('has no more servers than anybody needs', () => {
    const toml = Array.from({ length: 1001 }, (_, index) => `mcp_servers.s${index}.url = "http://h/"`).join('\n')
    const { servers, problems } = readExecutorConfig([{ source: 'x', toml }], 'enva')
    expect([servers.size, problems.length]).toEqual([0, 1])
  })

  it('has layers, the strongest last, which are merged member by member', () => {
    const layers = [
      {
        source: 'user',
        toml: '[mcp_servers.a]\nurl = "http://user/"\nhttp_headers = { A = "1" }\n[mcp_servers.b]\nurl = "http://b/"\n',
      },
      { source: 'project', toml: '[mcp_servers.a]\nurl = "http://project/"\n[mcp_servers.b]\nenabled = false\n' },
    ]
    const { servers, problems } = readExecutorConfig(layers, 'enva')
    expect([...servers]).toMatchObject([['a', { transport: { url: 'http://project/', httpHeaders: { A: '1' } } }]])
    expect(problems).toEqual([])
  })

  it.each([
    ['mcp_servers = 3', undefined, 'a map'],
    ['mcp_servers.a = 3', 'a', 'a map'],
    ['mcp_servers.a.url = 5', 'a', 'a string'],
    ['mcp_servers.a.foo = 5', 'a', 'invalid transport'],
    ['mcp_servers.a = { url = "http://h/", http_headers_helper = "x" }', 'a', 'only supported for local'],
  ])('that is partly broken names what is: %s', (toml, server, message) => {
    const { servers, problems } = readExecutorConfig(
      [
        { source: 'config.toml', toml },
        { source: 'other', toml: 'mcp_servers.ok.url = "http://ok/"' },
      ],
      'enva',
    )
    expect([...servers.keys()]).toEqual(['ok'])
    expect(problems).toMatchObject([{ ...(server && { server }), message: expect.stringContaining(message) }])
  })
})
