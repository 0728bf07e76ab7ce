import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { PluginPolicy } from '../../src/config/index.js'
import {
  CapabilityFinder,
  type CapabilityRoot,
  type DiscoveryFeatures,
  type EnvironmentCapabilities,
  ExecutorEnvironment,
  webSocketConnector,
} from '../../src/environments/index.js'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { environmentId } from '../../src/identity/index.js'
import type { JsonObject } from '../../src/protocol/index.js'
import { clientHome } from './client-home.js'
import { startCodexAppServer } from './codex-app-server.js'
import { codexModel } from './codex-home.js'
import { type ExecServer, execServer } from './exec-server.js'

/** One machine's home with plugins and configuration, seen by both executors. */
let real: ExecServer
let ours: WebSocketExecutor
let theirs: ExecutorEnvironment
let own: ExecutorEnvironment
let home: string

const NOTES = { mcpServers: { notes: { command: 'node', args: ['x'] } } }
const MANIFEST = '.codex-plugin/plugin.json'

const PLUGINS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  usual: { [MANIFEST]: { name: 'Usual', mcpServers: './.mcp.json' }, '.mcp.json': NOTES, 'skills/s/SKILL.md': 'body' },
  default: { '.claude-plugin/plugin.json': { name: 'Default' }, '.mcp.json': { x: { url: 'http://127.0.0.1:1/' } } },
  inline: { '.cursor-plugin/plugin.json': { name: 'Inline', mcpServers: { x: { command: 'c' } } } },
  both: { [MANIFEST]: { name: 'First' }, '.claude-plugin/plugin.json': { name: 'Second' } },
  none: { 'README.md': 'x' },
  broken: { [MANIFEST]: '{bad' },
  brokenServers: { [MANIFEST]: { name: 'x' }, '.mcp.json': '{oops' },
  undeclared: { [MANIFEST]: { name: 'x' } },
  missing: { [MANIFEST]: { name: 'x', mcpServers: './no.json' } },
  up: { [MANIFEST]: { name: 'x', mcpServers: '../usual/.mcp.json' } },
  large: { [MANIFEST]: { name: 'x' }, '.mcp.json': ' '.repeat(1_500_000) },
  apps: { [MANIFEST]: { name: 'x', apps: './.app.json' }, '.app.json': {} },
  partly: {
    [MANIFEST]: { name: 'x' },
    '.mcp.json': { good: { command: 'c' }, bad: {}, out: { command: 'c', cwd: '..' } },
  },
}

async function write(folder: string, files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
}

beforeAll(async () => {
  real = await execServer({
    prepare: async (folder) => {
      for (const [name, files] of Object.entries(PLUGINS)) await write(join(folder, 'roots', name), files)
      await mkdir(join(folder, 'roots', 'outward', '.codex-plugin'), { recursive: true })
      await write(join(folder, 'roots', 'outward'), { [MANIFEST]: { name: 'x' } })
      await symlink('../usual/.mcp.json', join(folder, 'roots', 'outward', '.mcp.json'))
      await symlink('usual', join(folder, 'roots', 'link'))
      const cache = join(folder, 'plugins', 'cache')
      const installed = (place: string, name: string) =>
        cp(join(folder, 'roots', name), join(cache, place), { recursive: true })
      for (const version of ['1.9.0', '1.10.0', '1.10.0-beta']) await installed(`market/semver/${version}`, 'usual')
      for (const version of ['2.0.0', 'local']) await installed(`market/local/${version}`, 'default')
      for (const version of ['10.0.0', '9.0.0.1', '20240101']) await installed(`market/mixed/${version}`, 'inline')
      for (const place of ['.hidden/x/1.0.0', 'market/.hidden/1.0.0', 'market/sp ace/1.0.0'])
        await installed(place, 'usual')
      await installed('market/broken/1.0.0', 'broken')
      await installed('market/partly/1.0.0', 'partly')
      await installed('other/missing/1.0.0', 'missing')
      await mkdir(join(cache, 'market', 'empty', '1.0.0'), { recursive: true })
      await mkdir(join(cache, 'market', 'linked'))
      await symlink(join(folder, 'roots', 'usual'), join(cache, 'market', 'linked', '1.0.0'))
      await symlink('semver', join(cache, 'market', 'alias'))
      await writeFile(
        join(folder, 'config.toml'),
        `model = "x"
[mcp_servers.web]
url = "http://127.0.0.1:4500/mcp"
[mcp_servers.program]
command = "node"
env = { SECRET = "s" }
[plugins."semver@market"]
enabled = false
`,
      )
    },
  })
  home = real.home.folder
  ours = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication: { kind: 'none' },
    env: { ...real.home.env, CODEX_HOME: home },
    cwd: home,
  })
  const at = (url: string) =>
    new ExecutorEnvironment({ id: environmentId('box'), connector: webSocketConnector({ environment: 'box', url }) })
  theirs = at(real.url)
  own = at(ours.url)
})
afterAll(async () => {
  await Promise.all([theirs.close(), own.close()])
  await ours[Symbol.asyncDispose]()
  await real[Symbol.asyncDispose]()
})

const uri = (path: string) => pathToFileURL(join(home, path)).href

async function answers(method: Parameters<NonNullable<ExecutorEnvironment['ask']>>[0], params: unknown) {
  const of = (environment: ExecutorEnvironment) =>
    environment.ask(method, params).catch((error: { rpcCode?: number }) => ({ refused: error.rpcCode }))
  return { real: await of(theirs), ours: await of(own) }
}

/** Warnings and faults are worded by each for itself. */
function withoutWords(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) =>
      name === 'warnings' ? undefined : name === 'error' && member !== null ? 'said' : member,
    ),
  )
}

describe('our executor answers discoveries like the real one', () => {
  it.each([...Object.keys(PLUGINS), 'link', 'nowhere'])('of a root: %s', async (name) => {
    const params = { roots: [{ id: 'r', path: uri(`roots/${name}`) }] }
    const both = await answers('capabilityRoots/discoverV1', params)
    expect(withoutWords(both.ours)).toEqual(withoutWords(both.real))
  })

  it('of a root, except that files do not come from outside', async () => {
    const both = await answers('capabilityRoots/discoverV1', { roots: [{ id: 'r', path: uri('roots/outward') }] })
    expect(both.real).toMatchObject({ roots: [{ plugin: { mcpConfig: { path: uri('roots/outward/.mcp.json') } } }] })
    expect(both.ours).toMatchObject({ roots: [{ plugin: { mcpConfig: null } }] })
  })

  it.each<[string, unknown]>([
    ['without roots', {}],
    ['of no root', { roots: [] }],
    ['of a path', { roots: [{ id: 'r', path: '/x' }] }],
    ['of no path', { roots: [{ id: 'r' }] }],
    ['of no id', { roots: [{ path: 'file:///x' }] }],
    ['of a sandbox that is none', { roots: [{ id: 'r', path: 'file:///x', sandbox: {} }] }],
    ['of too many roots', { roots: Array.from({ length: 129 }, (_, id) => ({ id: `${id}`, path: 'file:///x' })) }],
  ])('%s', async (_, params) => {
    const both = await answers('capabilityRoots/discoverV1', params)
    expect(withoutWords(both.ours)).toEqual(withoutWords(both.real))
  })

  it('of installed plugins, except for their skills', async () => {
    const both = await answers('capabilities/discoverV2', { cwd: uri('') })
    const withoutSkills = (value: unknown) =>
      JSON.parse(JSON.stringify(withoutWords(value), (name, member) => (name === 'skills' ? undefined : member)))
    expect(withoutSkills(both.ours)).toEqual(withoutSkills(both.real))
  })

  it.each<[string, unknown]>([
    ['without a folder', {}],
    ['in a folder that is none', { cwd: 'x' }],
  ])('of installed plugins %s', async (_, params) => {
    const both = await answers('capabilities/discoverV2', params)
    expect(both.ours).toEqual(both.real)
  })

  it.each([
    [[['mcp_servers', 'web'], ['plugins']]],
    [[['model'], ['nope']]],
    [[['mcp_servers', 'nope', 'deeper']]],
    [[]],
    [[[]]],
    ['x'],
  ])('of configuration: %j', async (configPaths) => {
    const both = await answers('environmentConfig/read', { cwd: uri(''), configPaths, requirementsPaths: [] })
    expect(both.ours).toEqual(both.real)
  })

  it('of configuration, except that variables of stdio servers stay there', async () => {
    const params = { cwd: uri(''), configPaths: [['mcp_servers']], requirementsPaths: [['mcp_servers']] }
    const both = await answers('environmentConfig/read', params)
    expect(JSON.stringify(both.real)).toContain('SECRET')
    expect(JSON.stringify(both.ours)).not.toContain('SECRET')
    expect(both.ours).toMatchObject({ config: { layers: [{ baseDir: uri('') }] } })
  })
})

describe('what Reeve finds is the same on both executors', () => {
  const roots: readonly CapabilityRoot[] = [...Object.keys(PLUGINS), 'outward', 'link', 'nowhere'].map((name) => ({
    id: name,
    environment: 'box',
    path: '',
  }))
  const enabled = (id: string): readonly [string, PluginPolicy] => [id, { enabled: true, servers: new Map() }]
  const policies = new Map(['semver', 'local', 'mixed', 'partly', 'broken'].map((name) => enabled(`${name}@market`)))

  async function find(environment: ExecutorEnvironment, features: DiscoveryFeatures): Promise<EnvironmentCapabilities> {
    const placed = roots.map((root) => ({ ...root, path: join(home, 'roots', root.id) }))
    const [found] = await new CapabilityFinder().find({
      places: [{ environment, cwd: home }],
      roots: placed,
      features,
      policies,
    })
    if (found === undefined) throw new Error('nothing was found')
    return found
  }
  /** Without texts, which name what the executor said. */
  const outcome = ({ plugins, executorServers, problems }: EnvironmentCapabilities) => ({
    plugins,
    executorServers,
    problems: problems
      .filter(({ code, plugin }) => !(code === 'plugin_warning' && plugin === undefined))
      .map(({ code, plugin, server }) => [code, plugin, server]),
  })

  const EVERYTHING = { rootsInOneRequest: true, installedPlugins: true, executorConfig: true }

  it('whether it asks for all roots at once or reads them', async () => {
    const read = outcome(await find(theirs, {}))
    expect(outcome(await find(theirs, { rootsInOneRequest: true }))).toEqual(read)
    expect(outcome(await find(own, {}))).toEqual(read)
    expect(outcome(await find(own, { rootsInOneRequest: true }))).toEqual(read)
    expect(read.plugins.map(({ id, servers }) => [id, [...servers.keys()]])).toEqual([
      ['usual', ['notes']],
      ['default', ['x']],
      ['inline', ['x']],
      ['both', []],
      ['undeclared', []],
      ['apps', []],
      ['partly', ['good']],
      ['link', ['notes']],
    ])
    expect(read.problems).toEqual([
      ['not_a_plugin', 'none', undefined],
      ['broken_manifest', 'broken', undefined],
      ['broken_manifest', 'brokenServers', undefined],
      ['broken_manifest', 'missing', undefined],
      ['broken_manifest', 'up', undefined],
      ['broken_manifest', 'large', undefined],
      ['invalid_plugin_server', 'partly', 'bad'],
      ['invalid_plugin_server', 'partly', 'out'],
      ['broken_manifest', 'outward', undefined],
      ['root_unreadable', 'nowhere', undefined],
    ])
  })

  it('with roots, installed plugins that the host enables, and HTTP servers of the executor', async () => {
    const found = outcome(await find(theirs, EVERYTHING))
    expect(outcome(await find(own, EVERYTHING))).toEqual(found)
    const installed = found.plugins.filter(({ id }) => id.includes('@'))
    expect(installed.map(({ id, displayName, path }) => [id, displayName, path.split('/').at(-1)])).toEqual([
      ['local@market', 'Default', 'local'],
      ['mixed@market', 'Inline', '9.0.0.1'],
      ['partly@market', 'x', '1.0.0'],
      ['semver@market', 'Usual', '1.10.0'],
    ])
    expect([...found.executorServers.keys()]).toEqual(['web'])
    expect(found.problems).toContainEqual(['stdio_skipped', undefined, 'program'])
  })

  it('when the configuration of the executor is broken', async () => {
    await writeFile(join(home, 'config.toml'), '[mcp_servers.secret-word\n')
    try {
      for (const environment of [theirs, own]) {
        const found = await find(environment, EVERYTHING)
        const broken = found.problems.filter(({ code }) => code === 'broken_executor_config')
        expect(broken).toHaveLength(1)
        expect(broken[0]?.message).not.toContain('secret-word')
        expect(found.plugins).toHaveLength(12)
      }
    } finally {
      await rm(join(home, 'config.toml'))
    }
  })
})

describe('Codex finds what our executor offers', () => {
  const quote = (text: string) => JSON.stringify(text)
  const Started = z.object({ thread: z.object({ id: z.string() }) })
  const Statuses = z.object({
    data: z.array(
      z.object({ name: z.string(), environmentId: z.string().nullable(), pluginId: z.string().nullable() }),
    ),
  })

  it.each([true, false])(
    'of a selected root and of its own configuration, in one request: %s',
    async (inOneRequest) => {
      await using client = await clientHome('codex-discovers')
      await write(client.folder, {
        'there/config.toml': '[mcp_servers.web]\nurl = "http://127.0.0.1:9/mcp"\n',
        'environments.toml': '',
        'config.toml': `${codexModel()}[features]
multi_environment_mcp = true
executor_capability_discovery = ${inOneRequest}
`,
      })
      await using executor = await serveExecutorWebSocket({
        host: '127.0.0.1',
        port: 0,
        authentication: { kind: 'none' },
        env: { ...client.env, CODEX_HOME: join(client.folder, 'there') },
        cwd: client.folder,
      })
      const environments = `include_local = true\n[[environments]]\nid = "box"\nurl = ${quote(executor.url)}\n`
      await writeFile(join(client.folder, 'environments.toml'), environments)
      await using codex = await startCodexAppServer({
        env: { ...client.env, CODEX_HOME: client.folder },
        cwd: client.folder,
      })
      const { thread } = Started.parse(
        await codex.request('thread/start', {
          cwd: client.folder,
          approvalPolicy: 'never',
          environments: [{ environmentId: 'box', cwd: client.folder }],
          selectedCapabilityRoots: [
            { id: 'r', location: { type: 'environment', environmentId: 'box', path: join(home, 'roots', 'usual') } },
          ],
        }),
      )
      const { data } = Statuses.parse(await codex.request('mcpServerStatus/list', { threadId: thread.id }))
      expect(data.map(({ name, environmentId, pluginId }) => [name, environmentId, pluginId]).sort()).toEqual([
        ['notes', 'box', 'r'],
        ['web', 'box', null],
      ])
    },
  )
})

describe('the real executor under a profile that restricts files', () => {
  const find = async (...entries: readonly JsonObject[]) => {
    const permissions: JsonObject = {
      type: 'managed',
      file_system: { type: 'restricted', entries: [...entries] },
      network: 'restricted',
    }
    const roots = [{ id: 'r', environment: 'box', path: join(home, 'roots', 'usual') }]
    const places = [{ environment: theirs, cwd: home, workspaceRoots: [home], permissions }]
    const [found] = await new CapabilityFinder().find({ places, roots })
    return { servers: found?.plugins.flatMap(({ servers }) => [...servers.keys()]), problems: found?.problems }
  }
  const everything: JsonObject = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' }

  it('looks for plugins in a sandbox', async () => {
    expect(await find(everything)).toEqual({ servers: ['notes'], problems: [] })
  })

  it('shows none of what the profile denies', async () => {
    const denied: JsonObject = { path: { type: 'path', path: join(home, 'roots') }, access: 'deny' }
    expect(await find(everything, denied)).toMatchObject({ servers: [], problems: [{ code: 'root_unreadable' }] })
  })
})
