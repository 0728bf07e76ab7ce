import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Answer, type Asked, scriptedExecutor } from '../../../test/fixtures/executor/scripted-executor.js'
import type { PluginPolicy } from '../../config/index.js'
import { CancelledError } from '../../errors.js'
import { serveExecutorWebSocket } from '../../executor/index.js'
import { environmentId } from '../../identity/index.js'
import type { Environment } from '../environment.js'
import { ExecutorEnvironment } from '../executor/environment.js'
import { webSocketConnector } from '../executor/web-socket.js'
import { createHttpClient } from '../http/client.js'
import { LocalEnvironment } from '../local.js'
import { CapabilityFinder } from './finder.js'
import type { CapabilityRequest, DiscoveryFeatures, EnvironmentCapabilities } from './types.js'

let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'reeve-finder-')))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function at(id: string, url: string): Environment {
  const environment = new ExecutorEnvironment({
    id: environmentId(id),
    connector: webSocketConnector({ environment: id, url }),
  })
  onTestFinished(() => environment.close())
  return environment
}

/** A real executor of ours, whose homes are in the test's folder. */
async function box(id: string): Promise<Environment> {
  const executor = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication: { kind: 'none' },
    env: { PATH: process.env.PATH, HOME: folder, CODEX_HOME: folder, REEVE_HOME: folder },
    cwd: folder,
  })
  onTestFinished(() => executor[Symbol.asyncDispose]())
  return at(id, executor.url)
}

async function plugin(name: string, servers: object): Promise<string> {
  await write(join(name, '.codex-plugin', 'plugin.json'), JSON.stringify({ name, mcpServers: servers }))
  return join(folder, name)
}
async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

const NODE = { command: 'node' }
const root = (id: string, environment: string, path: string) => ({ id, environment, path })
const names = (found: EnvironmentCapabilities | undefined) =>
  found?.plugins.map(({ id, servers }) => [id, ...servers.keys()])
const codes = (found: EnvironmentCapabilities | undefined) => found?.problems.map(({ code }) => code)

const CAPABILITIES = { capabilityDiscoveryV2: true, environmentConfigRead: true }
const ALL: DiscoveryFeatures = { rootsInOneRequest: true, installedPlugins: true, executorConfig: true }

/** An executor that has every flag and answers with what the test says. */
async function scripted(script: (asked: Asked) => Answer | undefined) {
  const executor = await scriptedExecutor((asked) => {
    if (asked.method !== 'initialize') return script(asked)
    const environmentInfo = {
      shell: { name: 'sh', path: '/bin/sh' },
      platformOs: 'linux',
      userHomeDir: 'file:///home/u',
      capabilities: CAPABILITIES,
    }
    return { result: { sessionId: crypto.randomUUID(), environmentInfo } }
  })
  onTestFinished(() => executor[Symbol.asyncDispose]())
  return executor
}

describe('what a thread finds', () => {
  it('is read in every environment, in the order of the selection and of its roots', async () => {
    const [a, b] = [await plugin('a', { notes: NODE }), await plugin('b', { other: NODE })]
    const local = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
    onTestFinished(() => local.close())
    const request: CapabilityRequest = {
      places: [{ environment: await box('enva') }, { environment: local }, { environment: await box('envb') }],
      roots: [root('rb', 'enva', b), root('ra', 'enva', a), root('rl', 'local', a), root('rx', 'nowhere', a)],
    }
    const [enva, host, envb, ...others] = await new CapabilityFinder().find(request)
    expect(names(enva)).toEqual([
      ['rb', 'other'],
      ['ra', 'notes'],
    ])
    expect(names(host)).toEqual([['rl', 'notes']])
    expect(envb).toEqual({ environment: 'envb', plugins: [], executorServers: new Map(), problems: [] })
    expect(others).toEqual([])
    expect(enva?.plugins[0]?.servers.get('other')).toMatchObject({ environmentId: 'enva', transport: { cwd: b } })
    expect(host?.plugins[0]?.servers.get('notes')).toMatchObject({ environmentId: 'local' })
  })

  it('stays as it was read until it is forgotten; what failed is read again', async () => {
    const path = await plugin('a', { before: NODE })
    const request = {
      places: [{ environment: await box('enva') }],
      roots: [root('r', 'enva', path), root('late', 'enva', join(folder, 'late'))],
    }
    const finder = new CapabilityFinder()
    const [first] = await finder.find(request)
    expect([names(first), codes(first)]).toEqual([[['r', 'before']], ['root_unreadable']])
    await plugin('a', { after: NODE })
    await plugin('late', { found: NODE })
    const [second] = await finder.find(request)
    expect([names(second), codes(second)]).toEqual([
      [
        ['r', 'before'],
        ['late', 'found'],
      ],
      [],
    ])
    finder.forget()
    expect(names((await finder.find(request))[0])).toEqual([
      ['r', 'after'],
      ['late', 'found'],
    ])
  })

  it('is read anew behind another definition of an environment', async () => {
    const path = await plugin('a', { before: NODE })
    const environment = await box('enva')
    const finder = new CapabilityFinder()
    const find = async (handle: string) =>
      names((await finder.find({ places: [{ environment, handle }], roots: [root('r', 'enva', path)] }))[0])
    expect(await find('1')).toEqual([['r', 'before']])
    await plugin('a', { after: NODE })
    expect(await find('1')).toEqual([['r', 'before']])
    expect(await find('2')).toEqual([['r', 'after']])
  })

  it('has installed plugins that the host enables, beside the selected roots, and HTTP servers of the executor', async () => {
    const cache = 'plugins/cache/market'
    for (const name of ['on', 'off', 'silent']) await plugin(`${cache}/${name}/1.0.0`, { [name]: NODE })
    await write(
      'config.toml',
      '[mcp_servers.web]\nurl = "http://h/"\n[mcp_servers.program]\ncommand = "c"\n[plugins."silent@market"]\nenabled = true\n',
    )
    const policy = (enabled: boolean): PluginPolicy => ({ enabled, servers: new Map() })
    const policies = new Map([
      ['on@market', policy(true)],
      ['off@market', policy(false)],
    ])
    const places = [{ environment: await box('enva') }, { environment: await box('envb') }]
    const roots = [root('r', 'envb', await plugin('a', { notes: NODE }))]
    const finder = new CapabilityFinder()
    const [enva, envb] = await finder.find({ places, roots, features: ALL, policies })
    expect(names(enva)).toEqual([['on@market', 'on']])
    expect(names(envb)).toEqual([
      ['r', 'notes'],
      ['on@market', 'on'],
    ])
    expect([...(enva?.executorServers.keys() ?? [])]).toEqual(['web'])
    expect(enva?.problems).toMatchObject([{ code: 'stdio_skipped', server: 'program', environment: 'enva' }])
    const later = new Map([...policies, ['silent@market', policy(true)] as const])
    expect(names((await finder.find({ places, roots, features: ALL, policies: later }))[0])).toEqual([
      ['on@market', 'on'],
      ['silent@market', 'silent'],
    ])
    const [without] = await finder.find({ places, roots, policies })
    expect(without).toMatchObject({ plugins: [], executorServers: new Map(), problems: [] })
  })
})

describe('an environment that can not be looked into', () => {
  it('delays no other, has one problem, and is looked into again', async () => {
    const hanging = await scripted(() => false)
    const path = await plugin('a', { notes: NODE })
    const finder = new CapabilityFinder()
    const request = {
      places: [
        { environment: at('dead', 'ws://127.0.0.1:1') },
        { environment: at('mute', hanging.url) },
        { environment: await box('enva') },
      ],
      roots: ['dead', 'mute', 'enva'].flatMap((id) => [root(`${id}1`, id, path), root(`${id}2`, id, path)]),
      features: ALL,
    }
    const [dead, mute, enva] = await finder.find(request, { timeoutMs: 1500 })
    expect([codes(dead), codes(mute), codes(enva)]).toEqual([
      ['environment_unavailable'],
      ['environment_unavailable'],
      [],
    ])
    expect(names(enva)).toEqual([
      ['enva1', 'notes'],
      ['enva2', 'notes'],
    ])
    const before = hanging.asked.length
    await finder.find(request, { timeoutMs: 500 })
    expect(hanging.asked.length).toBeGreaterThan(before)
  })

  it('still has what was read before', async () => {
    const path = await plugin('a', { notes: NODE })
    const executor = await serveExecutorWebSocket({
      host: '127.0.0.1',
      port: 0,
      authentication: { kind: 'none' },
      env: {},
    })
    const environment = at('enva', executor.url)
    const finder = new CapabilityFinder()
    const request = { places: [{ environment }], roots: [root('r', 'enva', path)], features: { executorConfig: true } }
    await finder.find(request)
    await executor[Symbol.asyncDispose]()
    const added = { ...request, roots: [...request.roots, root('s', 'enva', path)] }
    const [found] = await finder.find(added, { timeoutMs: 3000 })
    expect(names(found)).toEqual([['r', 'notes']])
    expect(codes(found)).toEqual(['environment_unavailable'])
  })

  it('is given up when the caller gives up', async () => {
    const hanging = await scripted(() => false)
    const places = [{ environment: at('mute', hanging.url) }]
    const abort = new AbortController()
    const finding = new CapabilityFinder().find({ places, roots: [root('r', 'mute', '/x')] }, { signal: abort.signal })
    abort.abort()
    await expect(finding).rejects.toThrow(CancelledError)
    await expect(new CapabilityFinder().find({ places, roots: [] }, { signal: abort.signal })).rejects.toThrow(
      CancelledError,
    )
  })
})

describe('an executor that answers nonsense', () => {
  const file = (path: string, contents: unknown) => ({ path: `file://${path}`, contents })
  const installed = (members: object) => ({
    plugins: [
      { id: 'p@m', root: 'file:///p', files: { manifest: file('/p/.codex-plugin/plugin.json', '{}') }, ...members },
    ],
    warnings: [],
  })
  const policies = new Map([['p@m', { enabled: true, servers: new Map() }]])
  const look = async (method: string, result: unknown) => {
    const executor = await scripted((asked) => (asked.method === method ? { result } : undefined))
    const places = [{ environment: at('odd', executor.url) }]
    const [found] = await new CapabilityFinder().find({
      places,
      roots: [root('r', 'odd', '/r')],
      features: ALL,
      policies,
    })
    return found?.problems.filter(({ message }) => message.includes(method)) ?? []
  }

  it.each([
    null,
    5,
    [],
    {},
    { roots: {} },
    { roots: [] },
    { roots: [null] },
    { roots: [{ id: 'other', plugin: null }] },
    { roots: [{ id: 'r', plugin: 5 }] },
    { roots: [{ id: 'r', plugin: {} }] },
    { roots: [{ id: 'r', plugin: { manifest: { path: 'x', contents: '{}' } } }] },
    { roots: [{ id: 'r', plugin: { manifest: file('/r/.codex-plugin/plugin.json', 5) } }] },
    { roots: [{ id: 'r' }, { id: 'r' }] },
  ])('about roots is read file by file, with one problem: %j', async (result) => {
    expect(await look('capabilityRoots/discoverV1', result)).toMatchObject([{ code: 'discovery_failed' }])
  })

  it.each([
    null,
    {},
    { plugins: [], warnings: {} },
    { plugins: [], warnings: [5] },
    { plugins: [null], warnings: [] },
    installed({ id: 5 }),
    installed({ root: '/p' }),
    installed({ files: {} }),
    installed({ files: null }),
  ])('about installed plugins has one problem: %j', async (result) => {
    expect(await look('capabilities/discoverV2', result)).toMatchObject([{ code: 'discovery_failed' }])
  })

  it.each([
    null,
    {},
    { config: { layers: 5 } },
    { config: { layers: [null] } },
    { config: { layers: [{ source: 'x', toml: 5 }] } },
    { config: { layers: [] } },
  ])('about its configuration has one problem: %j', async (result) => {
    expect(await look('environmentConfig/read', result)).toMatchObject([{ code: 'broken_executor_config' }])
  })

  it('and refuses what its flags promise is a problem, not an end', async () => {
    const executor = await scripted(({ method }) =>
      method.startsWith('fs/') ? { error: { code: -32004, message: 'not there' } } : undefined,
    )
    const places = [{ environment: at('odd', executor.url) }]
    const [found] = await new CapabilityFinder().find({
      places,
      roots: [root('r', 'odd', '/r')],
      features: ALL,
      policies,
    })
    expect(codes(found)?.sort()).toEqual(['broken_executor_config', 'discovery_failed', 'root_unreadable'])
  })

  it('cannot bring files from outside by naming them', async () => {
    const manifest = file('/elsewhere/plugin.json', '{"mcpServers":{"x":{"command":"c"}}}')
    const executor = await scripted(({ method, params }) => {
      if (method === 'capabilityRoots/discoverV1') return { result: { roots: [{ id: 'r', plugin: { manifest } }] } }
      return method === 'fs/canonicalize' ? { result: { path: params.path } } : undefined
    })
    const places = [{ environment: at('odd', executor.url) }]
    const roots = [root('r', 'odd', '/r')]
    const [found] = await new CapabilityFinder().find({ places, roots, features: { rootsInOneRequest: true } })
    expect(found).toMatchObject({ plugins: [], problems: [{ code: 'broken_manifest', plugin: 'r' }] })
  })

  it.each([10, 100 * 1024 * 1024])(
    'about a manifest of 100 MB is read no further than its limit: it says %i',
    async (size) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ').toString('base64')
      const executor = await scripted(({ method, params }) => {
        const isFolder = params.path === 'file:///r'
        const facts = {
          isDirectory: isFolder,
          isFile: !isFolder,
          isSymlink: false,
          size,
          createdAtMs: 0,
          modifiedAtMs: 0,
        }
        if (method === 'fs/getMetadata') return { result: facts }
        if (method === 'fs/readBlock') return { result: { chunk, eof: false } }
        return { result: {} }
      })
      const places = [{ environment: at('odd', executor.url) }]
      const [found] = await new CapabilityFinder().find({ places, roots: [root('r', 'odd', '/r')] })
      expect(found?.problems).toMatchObject([
        { code: 'broken_manifest', message: expect.stringContaining('larger than') },
      ])
      expect(executor.asked.filter(({ method }) => method === 'fs/readBlock').length).toBeLessThan(3)
    },
  )

  it('is asked for 128 roots at most at once', async () => {
    const executor = await scripted(({ method, params }) => {
      if (method !== 'capabilityRoots/discoverV1') return { error: { code: -32004, message: 'not there' } }
      const roots = params.roots as readonly { readonly id: string }[]
      return { result: { roots: roots.map(({ id }) => ({ id, plugin: null, error: 'no' })) } }
    })
    const roots = Array.from({ length: 200 }, (_, index) => root(`r${index}`, 'odd', `/r${index}`))
    const places = [{ environment: at('odd', executor.url) }]
    const [found] = await new CapabilityFinder().find({ places, roots, features: { rootsInOneRequest: true } })
    expect(found?.problems).toHaveLength(200)
    const asked = executor.asked.filter(({ method }) => method === 'capabilityRoots/discoverV1')
    expect(asked.map(({ params }) => (params.roots as readonly unknown[]).length)).toEqual([128, 72])
  })
})
