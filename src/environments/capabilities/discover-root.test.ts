import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { environmentId } from '../../identity/index.js'
import type { Environment } from '../environment.js'
import { createHttpClient } from '../http/client.js'
import { LocalEnvironment } from '../local.js'
import { discoverRoot } from './discover-root.js'

let folder: string
let home: string
let environment: Environment
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'reeve-roots-')))
  home = join(folder, 'home')
  await mkdir(home)
  const local = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
  const info = { ...(await local.info()), userHomeDir: `file://${home}` }
  environment = {
    id: environmentId('enva'),
    kind: 'executor',
    spawn: (request) => local.spawn(request),
    http: local.http,
    files: local.files,
    state: local.state,
    onstate: () => () => {},
    info: async () => info,
    pathStyle: () => local.pathStyle(),
    close: () => local.close(),
  }
})
afterEach(async () => {
  await environment.close()
  await rm(folder, { recursive: true, force: true })
})

type Files = Readonly<Record<string, unknown>>

async function plugin(files: Files, name = 'p'): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    const place = join(folder, name, path)
    await mkdir(dirname(place), { recursive: true })
    await writeFile(place, typeof content === 'string' || content instanceof Buffer ? content : JSON.stringify(content))
  }
  return join(folder, name)
}
const read = (path: string, id = 'root') => discoverRoot(environment, { id, environment: 'enva', path })

const MANIFEST = '.codex-plugin/plugin.json'
const NOTES = { mcpServers: { notes: { command: 'node', args: ['x'] } } }
const MANY = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`s${index}`, { command: 'c' }]))
const AGENT = 'https://agent-plugins.org/schemas/1.0.0'

describe('a capability root', () => {
  it('is read as the plugin that it holds', async () => {
    const path = await plugin({ [MANIFEST]: { name: 'Alpha', mcpServers: './.mcp.json' }, '.mcp.json': NOTES })
    const { plugin: found, problems } = await read(path)
    expect(problems).toEqual([])
    expect(found).toMatchObject({ id: 'root', displayName: 'Alpha', agentPlugin: false, environment: 'enva', path })
    expect([...(found?.servers ?? [])]).toMatchObject([
      ['notes', { environmentId: 'enva', transport: { command: 'node', cwd: path } }],
    ])
  })

  it.each([
    ['.codex-plugin/plugin.json', ['.codex-plugin', '.claude-plugin', '.cursor-plugin']],
    ['.claude-plugin/plugin.json', ['.claude-plugin', '.cursor-plugin']],
    ['.cursor-plugin/plugin.json', ['.cursor-plugin']],
  ])('has the first manifest of %s', async (first, all) => {
    const files = Object.fromEntries(all.map((name) => [`${name}/plugin.json`, { name: `${name}/plugin.json` }]))
    expect((await read(await plugin(files))).plugin?.displayName).toBe(first)
  })

  it('has servers in its manifest, in the file by default, or none', async () => {
    const inline = await plugin({ [MANIFEST]: { mcpServers: { x: { command: 'c' } } }, '.mcp.json': NOTES }, 'inline')
    expect([...((await read(inline)).plugin?.servers.keys() ?? [])]).toEqual(['x'])
    const usual = await plugin({ [MANIFEST]: { name: 'n' }, '.mcp.json': NOTES }, 'usual')
    expect([...((await read(usual)).plugin?.servers.keys() ?? [])]).toEqual(['notes'])
    const none = await plugin({ [MANIFEST]: { name: 'n' } }, 'none')
    expect(await read(none)).toMatchObject({ plugin: { servers: new Map() }, problems: [] })
  })

  it('keeps the siblings of a broken server', async () => {
    const servers = {
      bad: {},
      away: { command: 'c', cwd: '..' },
      fine: { command: 'c' },
      gone: { command: 'c', cwd: 'no' },
    }
    const path = await plugin({ [MANIFEST]: {}, '.mcp.json': { mcpServers: servers } })
    const { plugin: found, problems } = await read(path)
    expect([...(found?.servers.keys() ?? [])]).toEqual(['fine'])
    expect(problems.map(({ code, server }) => [code, server])).toEqual([
      ['invalid_plugin_server', 'bad'],
      ['invalid_plugin_server', 'away'],
      ['invalid_plugin_server', 'gone'],
    ])
    expect(problems[0]).toMatchObject({ plugin: 'root', path: join(path, '.mcp.json'), message: 'invalid transport' })
  })

  it('keeps names of prototypes apart', async () => {
    const text = '{"mcpServers":{"__proto__":{"command":"c"},"constructor":{"command":"c"}}}'
    const path = await plugin({ [MANIFEST]: {}, '.mcp.json': text })
    expect([...((await read(path)).plugin?.servers.keys() ?? [])]).toEqual(['__proto__', 'constructor'])
  })

  it.each<[string, Files, string, string]>([
    ['no manifest', { 'README.md': 'x' }, 'not_a_plugin', 'no manifest'],
    ['a plugin.json of something else', { 'plugin.json': { name: 'x' } }, 'not_a_plugin', 'no manifest'],
    [
      'a manifest that does not parse',
      { [MANIFEST]: '{bad' },
      'broken_manifest',
      'key must be a string at line 1 column 2',
    ],
    ['a manifest that is a list', { [MANIFEST]: [] }, 'broken_manifest', 'must hold an object'],
    ['a manifest that is no text', { [MANIFEST]: Buffer.from([0x7b, 0xff]) }, 'broken_manifest', 'not valid UTF-8'],
    ['a manifest of 2 MB', { [MANIFEST]: ' '.repeat(2e6) }, 'broken_manifest', 'larger than 1048576 bytes'],
    ['a file of servers of 2 MB', { [MANIFEST]: {}, '.mcp.json': ' '.repeat(2e6) }, 'broken_manifest', 'larger than'],
    ['a file of servers that is broken', { [MANIFEST]: {}, '.mcp.json': '{' }, 'broken_manifest', '.mcp.json'],
    [
      'a file of servers that is not there',
      { [MANIFEST]: { mcpServers: './no.json' } },
      'broken_manifest',
      'not there',
    ],
    ['a file of servers outside', { [MANIFEST]: { mcpServers: './../home/x' } }, 'broken_manifest', 'leads out'],
    ['more servers than any', { [MANIFEST]: { mcpServers: MANY } }, 'broken_manifest', 'more than 256 servers'],
    ['servers deeper than any', { [MANIFEST]: `{"mcpServers":${'['.repeat(1e5)}` }, 'broken_manifest', 'nested deeper'],
  ])('with %s is one problem', async (_, files, code, message) => {
    const found = await read(await plugin(files))
    expect(found.plugin).toBeUndefined()
    expect(found.problems).toMatchObject([{ code, plugin: 'root', environment: 'enva' }])
    expect(found.problems[0]?.message).toContain(message)
  })

  it.each([
    ['is not there', () => join(folder, 'nowhere'), 'ENOENT'],
    ['is a file', () => join(folder, 'file'), 'is no folder'],
    ['is relative', () => 'plugins/x', 'no absolute path'],
    ['has a byte that no path has', () => `${folder}\u0000x`, 'no absolute path'],
    ['is of another system', () => 'C:\\plugins\\x', 'no absolute path'],
  ])('that %s is unreadable', async (_, path, message) => {
    await writeFile(join(folder, 'file'), 'x')
    const { plugin: found, problems } = await read(path())
    expect(found).toBeUndefined()
    expect(problems).toMatchObject([{ code: 'root_unreadable' }])
    expect(problems[0]?.message).toContain(message)
  })
})

describe('links in a capability root', () => {
  it('may lead to the root, and stay inside', async () => {
    const path = await plugin({ [MANIFEST]: {}, 'real.json': { mcpServers: { x: { command: 'c', cwd: 'here' } } } })
    await symlink('real.json', join(path, '.mcp.json'))
    await mkdir(join(path, 'there'))
    await symlink('there', join(path, 'here'))
    await symlink(path, join(folder, 'link'))
    const { plugin: found, problems } = await read(join(folder, 'link'))
    expect(problems).toEqual([])
    expect([...(found?.servers.keys() ?? [])]).toEqual(['x'])
  })

  it('do not bring files from outside', async () => {
    const other = await plugin({ [MANIFEST]: {}, '.mcp.json': NOTES }, 'other')
    const path = await plugin({ [MANIFEST]: {} })
    await symlink(join(other, '.mcp.json'), join(path, '.mcp.json'))
    expect(await read(path)).toMatchObject({ problems: [{ code: 'broken_manifest' }] })
    await mkdir(join(folder, 'q', '.codex-plugin'), { recursive: true })
    await symlink(join(other, MANIFEST), join(folder, 'q', MANIFEST))
    const { problems } = await read(join(folder, 'q'))
    expect(problems[0]?.message).toContain('leads out of the plugin')
  })

  it('do not let a server work outside, nor nowhere', async () => {
    const servers = {
      out: { command: 'c', cwd: 'out' },
      dangling: { command: 'c', cwd: 'dangling' },
      ok: { command: 'c' },
    }
    const path = await plugin({ [MANIFEST]: {}, '.mcp.json': servers })
    await symlink(home, join(path, 'out'))
    await symlink('nowhere', join(path, 'dangling'))
    const { plugin: found, problems } = await read(path)
    expect([...(found?.servers.keys() ?? [])]).toEqual(['ok'])
    expect(problems.map(({ server, message }) => [server, /leads out|not there/.exec(message)?.[0]])).toEqual([
      ['out', 'leads out'],
      ['dangling', 'not there'],
    ])
  })
})

describe('a root with an Agent Plugin', () => {
  const manifest = { $schema: `${AGENT}/plugin.schema.json`, name: 'agent' }
  const servers = (mcpServers: unknown) => ({ $schema: `${AGENT}/mcp.schema.json`, mcpServers })

  it('has its servers, its root and a folder for its data that is made', async () => {
    const path = await plugin({
      'plugin.json': manifest,
      'mcp.json': servers({
        x: { type: 'stdio', command: './run', args: [`\${PLUGIN_DATA}`], cwd: `\${PLUGIN_DATA}` },
      }),
      run: '#!/bin/sh',
    })
    const { plugin: found, problems } = await read(path, 'agent@market')
    const data = join(home, '.reeve', 'plugin-data', 'agent@market')
    expect(problems).toEqual([])
    expect(found).toMatchObject({ displayName: 'agent', agentPlugin: true })
    expect(found?.servers.get('x')?.transport).toMatchObject({
      command: join(path, 'run'),
      args: [data],
      cwd: data,
      env: { PLUGIN_ROOT: path, PLUGIN_DATA: data },
    })
    expect((await environment.files.metadata(data)).isDirectory).toBe(true)
  })

  it('comes after a manifest of a client', async () => {
    const path = await plugin({ 'plugin.json': manifest, [MANIFEST]: { name: 'first' }, '.mcp.json': NOTES })
    expect((await read(path)).plugin).toMatchObject({ displayName: 'first', agentPlugin: false })
  })

  it('may stand behind a manifest of a client, when its file of servers says so', async () => {
    const path = await plugin({ [MANIFEST]: {}, '.mcp.json': servers({ x: { type: 'stdio', command: 'c' } }) })
    expect((await read(path)).plugin).toMatchObject({ agentPlugin: true })
  })

  it('loses servers whose paths lead out or nowhere, and keeps their siblings', async () => {
    const path = await plugin({
      'plugin.json': manifest,
      'mcp.json': servers({
        out: { type: 'stdio', command: './out' },
        gone: { type: 'stdio', command: './gone' },
        dangling: { type: 'stdio', command: 'c', cwd: './dangling' },
        away: { type: 'stdio', command: 'c', cwd: `\${PLUGIN_DATA}/away` },
        old: { type: 'sse', url: 'https://h/' },
        fine: { type: 'streamable-http', url: 'https://h/' },
      }),
    })
    await writeFile(join(home, 'program'), '')
    await symlink(join(home, 'program'), join(path, 'out'))
    await symlink('nowhere', join(path, 'dangling'))
    const data = join(home, '.reeve', 'plugin-data', 'root')
    await mkdir(data, { recursive: true })
    await symlink(folder, join(data, 'away'))
    const { plugin: found, problems } = await read(path)
    expect([...(found?.servers.keys() ?? [])]).toEqual(['fine'])
    expect(problems.map(({ server }) => server).sort()).toEqual(['away', 'dangling', 'gone', 'old', 'out'])
  })

  it('is one problem when its document is broken', async () => {
    const path = await plugin({ 'plugin.json': manifest, 'mcp.json': { ...servers({}), more: 1 } })
    expect(await read(path)).toMatchObject({ problems: [{ code: 'broken_manifest' }] })
  })
})
