import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTable, type RawTable, rawCopy } from '../source/raw.js'
import { readAgentManifest } from './agent-manifest.js'
import { readAgentPluginServers } from './agent-servers.js'
import { pluginDataFolder } from './paths.js'

const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'
const POSIX = { root: '/plugins/b', data: '/home/u/.reeve/plugin-data/b' }
const WINDOWS = { root: 'C:\\plugins\\b', data: 'C:\\Users\\u\\data' }

function document(content: unknown): RawTable {
  const copy = rawCopy(content)
  return isTable(copy) ? copy : {}
}

function read(server: unknown, folders = POSIX) {
  const result = readAgentPluginServers(
    document({ $schema: SCHEMA, mcpServers: { x: server, sibling: { type: 'stdio', command: 'c' } } }),
    folders,
    'enva',
  )
  expect(result.servers.has('sibling')).toBe(true)
  const transport = result.servers.get('x')?.transport
  return {
    error: result.errors.get('x')?.message,
    stdio: transport?.type === 'stdio' ? transport : undefined,
    http: transport?.type === 'streamable_http' ? transport : undefined,
    warnings: result.warnings,
    paths: result.paths.filter(({ server: name }) => name === 'x'),
  }
}
const stdio = (members: object, folders = POSIX) => read({ type: 'stdio', command: 'c', ...members }, folders)
const http = (members: object) => read({ type: 'streamable-http', url: 'https://h/', ...members })

describe('the servers of an Agent Plugin, as a document', () => {
  it.each([
    [{ mcpServers: {} }, '$schema must be'],
    [{ $schema: 'https://agent-plugins.org/schemas/2.0.0/mcp.schema.json', mcpServers: {} }, '$schema must be'],
    [{ $schema: SCHEMA }, 'mcpServers must be an object'],
    [{ $schema: SCHEMA, mcpServers: [] }, 'mcpServers must be an object'],
    [{ $schema: SCHEMA, mcpServers: {}, more: 1 }, 'unknown member `more`'],
  ])('are refused as a whole: %j', (content, message) => {
    expect(() => readAgentPluginServers(document(content), POSIX, 'enva')).toThrow(message)
  })

  it.each([
    [5, 'a server must be an object'],
    [{ command: 'c' }, 'type must be'],
    [{ type: 'http', url: 'https://h/' }, 'type must be'],
    [{ type: 'sse', url: 'https://h/' }, 'SSE transport is not supported'],
    [{ type: 'stdio', command: 'c', zzz: 1 }, 'unknown member `zzz`'],
    [{ type: 'stdio', command: 'c', url: 'https://h/' }, 'unknown member `url`'],
    [{ type: 'stdio', command: 'c', __proto__x: 1 }, 'unknown member'],
    [{ type: 'streamable-http', url: 'https://h/', env: {} }, 'unknown member `env`'],
    [{ type: 'stdio' }, 'has a `command`'],
    [{ type: 'stdio', command: 'c', args: 'x' }, 'args must be a list'],
    [{ type: 'stdio', command: 'c', args: [1] }, 'args must be a list'],
    [{ type: 'stdio', command: 'c', env: { A: 1 } }, 'env must be an object of strings'],
    [{ type: 'stdio', command: 'c', cwd: null }, 'cwd must be a string'],
    [{ type: 'streamable-http', url: 'https://h/', headers: null }, 'headers must be an object'],
  ])('are refused one by one: %j', (server, message) => {
    expect(read(server).error).toContain(message)
  })
})

describe('a stdio server of an Agent Plugin', () => {
  it.each(['node', 'a.exe', 'a-b_c', `\${PLUGIN_ROOT}`])('runs the program of a bare name: %s', (command) => {
    expect(stdio({ command }).stdio?.command).toBe(command)
  })

  it('runs a program of its own folder by its whole path, which its environment checks', () => {
    const { stdio: found, paths } = stdio({ command: './bin/../bin/run' })
    expect(found?.command).toBe('/plugins/b/bin/run')
    expect(paths).toContainEqual({
      server: 'x',
      member: 'command',
      path: '/plugins/b/bin/run',
      within: '/plugins/b',
      may: 'not be new',
    })
  })

  it.each([
    '',
    './',
    './.',
    '../x',
    './../x',
    './a/../../x',
    '/bin/sh',
    'a/b',
    'a\\b',
    '..',
    '.',
    ' a',
    'a\u0000',
    'a\nb',
  ])('runs nothing else: %j', (command) => {
    expect(stdio({ command }).error).toMatch(/command/)
  })

  it.each(['C:run', 'a:b', '.\\x', './..\\x', './..\\..\\x'])('runs nothing else on Windows: %j', (command) => {
    expect(stdio({ command }, WINDOWS).error).toMatch(/command/)
  })

  it.each([
    [undefined, '/plugins/b', 'root'],
    ['./', '/plugins/b', 'root'],
    ['./x/../y', '/plugins/b/y', 'root'],
    [`\${PLUGIN_ROOT}`, '/plugins/b', 'root'],
    [`\${PLUGIN_ROOT}/x`, '/plugins/b/x', 'root'],
    [`\${PLUGIN_DATA}`, '/home/u/.reeve/plugin-data/b', 'data'],
    [`\${PLUGIN_DATA}/x`, '/home/u/.reeve/plugin-data/b/x', 'data'],
  ] as const)('works in %s', (cwd, path, within) => {
    const found = stdio(cwd === undefined ? {} : { cwd })
    expect(found.stdio?.cwd).toBe(path)
    expect(found.paths).toMatchObject([{ member: 'cwd', path, within: POSIX[within] }])
  })

  it.each([
    '',
    '.',
    'x',
    '/plugins/b',
    '/',
    '../b',
    './..',
    './../c',
    `\${PLUGIN_ROOT}x`,
    `\${PLUGIN_ROOT}/..`,
    `\${PLUGIN_ROOT}/../c`,
    `\${PLUGIN_DATA}/../../x`,
    `x/\${PLUGIN_ROOT}`,
    `\${HOME}`,
  ])('works nowhere else: %j', (cwd) => {
    expect(stdio({ cwd }).error).toMatch(/cwd/)
  })

  it('has both folders in its environment, and cannot set them', () => {
    expect(stdio({ env: { A: `\${PLUGIN_ROOT}:\${PLUGIN_DATA}` } }).stdio?.env).toEqual({
      A: `${POSIX.root}:${POSIX.data}`,
      PLUGIN_ROOT: POSIX.root,
      PLUGIN_DATA: POSIX.data,
    })
    for (const name of ['PLUGIN_ROOT', 'PLUGIN_DATA']) expect(stdio({ env: { [name]: 'x' } }).error).toContain(name)
    expect(stdio({ env: { plugin_root: 'x' } }).error).toBeUndefined()
    expect(stdio({ env: { plugin_root: 'x' } }, WINDOWS).error).toContain('PLUGIN_ROOT')
  })

  it('has names in capitals on Windows, each once', () => {
    expect(stdio({ env: { Path: 'x' } }, WINDOWS).stdio?.env).toHaveProperty('PATH', 'x')
    expect(stdio({ env: { Path: 'x', PATH: 'y' } }, WINDOWS).error).toContain('twice')
    expect(stdio({ env: { Path: 'x', PATH: 'y' } }).error).toBeUndefined()
  })

  it.each(['', 'A=B', 'A\u0000'])('has no variable called %j', (name) => {
    expect(stdio({ env: { [name]: 'x' } }).error).toContain('no variable')
  })

  it('has placeholders replaced once, from left to right, whatever stands in the folders', () => {
    const piece = fc.constantFrom(
      `\${PLUGIN_ROOT}`,
      `\${PLUGIN_DATA}`,
      `\${PLUGIN_`,
      'ROOT}',
      '$',
      '{',
      '}',
      'x',
      '$&',
      `\${HOME}`,
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.constantFrom('/r', `/\${PLUGIN_DATA}`, '/$&'),
        (pieces, root) => {
          const text = pieces.join('')
          const folders = { root, data: `/d\${PLUGIN_ROOT}` }
          const expected = text
            .split(/(\$\{PLUGIN_ROOT\}|\$\{PLUGIN_DATA\})/)
            .map((part, index) => (index % 2 === 0 ? part : part.includes('ROOT') ? folders.root : folders.data))
            .join('')
          const { stdio: found } = stdio({ args: [text], env: { A: text } }, folders)
          expect(found?.args).toEqual([expected])
          expect(found?.env.A).toBe(expected)
        },
      ),
    )
  })

  it('never has a cwd outside, whatever it says', () => {
    const piece = fc.constantFrom('.', '..', '/', '\\', 'a', `\${PLUGIN_ROOT}`, `\${PLUGIN_DATA}`, 'C:', '//')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom(POSIX, WINDOWS), (pieces, folders) => {
        const { stdio: found } = stdio({ cwd: pieces.join('') }, folders)
        if (found === undefined) return
        const separator = folders === WINDOWS ? '\\' : '/'
        const isBelow = [folders.root, folders.data].some((folder) =>
          `${found.cwd}${separator}`.startsWith(`${folder}${separator}`),
        )
        expect(isBelow && !found.cwd?.split(separator).includes('..')).toBe(true)
      }),
    )
  })
})

describe('an HTTP server of an Agent Plugin', () => {
  it.each(['https://h/x?y', 'http://localhost:1/', 'http://127.0.0.1/', 'http://127.9.9.9/', 'http://[::1]:8/x'])(
    'is at %s',
    (url) => {
      expect(http({ url }).http?.url).toBe(url)
    },
  )

  it.each([
    undefined,
    '',
    5,
    'h',
    '/x',
    'ftp://h/',
    'https:h',
    'https:///',
    ' https://h/',
    'https://h/ x',
    'https://h/\n',
    'https:\\\\h',
    'https://u@h/',
    'https://u:p@h/',
    'https://@h/',
    'https://h/#f',
    'https://h/#',
    'http://h/',
    'http://localhost.h/',
    'http://[::ffff:127.0.0.1]/',
    'http://128.0.0.1/',
    `\${PLUGIN_ROOT}`,
  ])('is nowhere else: %j', (url) => {
    expect(http({ url }).error).toMatch(/url/)
  })

  it('sends its headers, without those of the client', () => {
    const ours = ['Accept', 'AUTHORIZATION', 'Host', 'Mcp-Session-Id', 'user-agent', 'TE', 'Upgrade', 'Last-Event-ID']
    const headers = Object.fromEntries([['X-A', 'a\tb'], ['x-b', 'é'], ...ours.map((name) => [name, 'x'])])
    const found = http({ headers })
    expect(found.http?.httpHeaders).toEqual({ 'X-A': 'a\tb', 'x-b': 'é' })
    expect(found.warnings).toHaveLength(ours.length)
  })

  it.each([
    { 'X-A': '1', 'x-a': '2' },
    { Accept: '1', accept: '2' },
    { '': 'x' },
    { 'a b': 'x' },
    { 'a:': 'x' },
    { a: 'x\r\ny: z' },
    { a: '\u0000' },
    { a: '\u007f' },
    { a: '€' },
    { a: 5 },
  ])('sends no header that is none: %j', (headers) => {
    expect(http({ headers }).error).toMatch(/header/)
  })
})

describe('the manifest of an Agent Plugin', () => {
  const manifest = (members: object) =>
    readAgentManifest(
      'plugin.json',
      JSON.stringify({ $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', ...members }),
    )

  it('is told from the plugin.json of others', () => {
    expect(readAgentManifest('plugin.json', '{"name":"x"}')).toBeUndefined()
    expect(manifest({ name: 'a.b-1', version: 'v', author: { name: 'n' } })).toEqual({ name: 'a.b-1', warnings: [] })
  })

  it('keeps a plugin with unknown members and says so', () => {
    expect(manifest({ name: 'a', hooks: {}, extensions: 5 })?.warnings).toHaveLength(2)
  })

  it.each([
    {},
    { name: 5 },
    { name: 'A' },
    { name: '-a' },
    { name: 'a--b' },
    { name: 'a..b' },
    { name: 'a'.repeat(65) },
    { name: 'a', version: 1 },
    { name: 'a', author: { name: 'n', phone: '1' } },
    { name: 'a', keywords: [1] },
    { name: 'a', $schema: 'https://agent-plugins.org/schemas/9.0.0/plugin.schema.json' },
  ])('is refused: %j', (members) => {
    expect(() => manifest(members)).toThrow()
  })
})

describe('the data folder of a plugin', () => {
  it.each([
    ['notes@market', '/h/.reeve/plugin-data/notes@market'],
    ['../../x', '/h/.reeve/plugin-data/..%2f..%2fx'],
    ['..', '/h/.reeve/plugin-data/%..'],
    ['', '/h/.reeve/plugin-data/%'],
    ['é', '/h/.reeve/plugin-data/%c3%a9'],
  ])('is one folder for each id: %j', (id, folder) => {
    expect(pluginDataFolder('/h', id)).toBe(folder)
  })

  it('follows the rules of its machine', () => {
    expect(pluginDataFolder('C:\\Users\\u', 'a\\b')).toBe('C:\\Users\\u\\.reeve\\plugin-data\\a%5cb')
  })
})
