import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { DEFAULT_STARTUP_TIMEOUT, DEFAULT_TOOL_TIMEOUT } from '../../src/connections/index.js'
import { type ClientProfile, ReeveError, type Thread } from '../../src/reeve.js'
import { OPERATION_TIMEOUT } from '../../src/threads/operations.js'
import { type Headers, httpServer } from '../fixtures/http/recording-server.js'
import { eventually } from '../fixtures/stdio/running.js'
import { type Frame, notes, notesToml, ThreadWorld } from '../fixtures/threads/thread-world.js'
import { oursOf, type VectorCase, vectorCases } from './cases.js'

const FILE = 'handshake.json'
const of = (kind: string) => vectorCases(FILE).filter(({ input }) => input.kind === kind)
const wantedOf = (one: VectorCase): unknown => oursOf(FILE, one) ?? one.expected
const titleOf = (one: VectorCase) => (oursOf(FILE, one) === undefined ? one.name : `${one.name}, ours`)

describe('initialize', () => {
  for (const one of of('initialize')) {
    const { transport, executionEnvironment } = z
      .looseObject({ transport: z.enum(['stdio', 'streamable_http']), executionEnvironment: z.string() })
      .parse(one.input)
    it(titleOf(one), async () => {
      const { params } = Initialize.parse(one.expected)
      const { clientInfo, capabilities } = params
      const seen = await introduction(transport, executionEnvironment, { clientInfo, capabilities })
      expect({ params: seen }).toEqual(wantedOf(one))
    })
  }
})

/** What one server in one place is told of the client. */
async function introduction(transport: string, environment: string, client: ClientProfile): Promise<unknown> {
  const isLocal = environment === 'local'
  await using http = await httpServer()
  const entry = transport === 'stdio' ? recording() : { url: http.url }
  const toml =
    transport === 'stdio' ? notesToml('p', RECORD, LEGACY) : `[mcp_servers.p]\nurl = "${http.url}"\n${LEGACY}\n`
  await using world = await ThreadWorld.open({
    executors: isLocal ? [] : [environment],
    config: isLocal ? toml : '',
    plugins: isLocal ? [] : [{ id: 'rootA', environment, servers: { p: { ...entry, protocol: 'legacy' } } }],
  })
  await using thread = await world.reeve.startThread({
    client,
    capabilityRoots: world.roots,
    onRequest: () => Promise.reject(new Error('asked')),
  })
  await thread.step({ wait: 'all' })
  const frames = transport === 'stdio' ? world.received('frames') : http.messages
  return frames.find(({ method }) => method === 'initialize')?.params
}

describe('the first messages', () => {
  for (const one of of('sequence')) {
    it(titleOf(one), async () => {
      await using recorded = await recordedThread()
      const [first, second, ...others] = recorded.frames()
      // What else it has is listed beside its tools.
      const listing = others.find(({ method }) => method === 'tools/list')
      const methods = [first, second, listing].map((frame) => frame?.method)
      expect({ methods, toolsListParams: withToken(listing, 0) }).toEqual(wantedOf(one))
    })
  }

  for (const one of of('requestMeta')) {
    const { method } = z.looseObject({ method: z.string() }).parse(one.input)
    it(titleOf(one), async () => {
      await using recorded = await recordedThread()
      const step = await recorded.thread.step()
      const before = recorded.frames().length
      await step.callFunction('list_mcp_resources', { server: 'p' })
      await step.callFunction('list_mcp_resource_templates', { server: 'p' })
      await step.callFunction('read_mcp_resource', { server: 'p', uri: 'note://shared/one' })
      const from = method === 'tools/list' ? 0 : before
      const frame = recorded
        .frames()
        .slice(from)
        .find((sent) => sent.method === method)
      expect({ metaKeys: Object.keys(frame?.params?._meta ?? {}) }).toEqual(wantedOf(one))
    })
  }
})

/** Calls by models and hooks are in `handshake-model-calls.test.ts`. */
describe('_meta of a call', () => {
  for (const one of of('callMeta').filter(({ input }) => input.origin === 'client')) {
    it(one.name, async () => {
      const { callerMeta, executionEnvironment, sandboxCapability } = z
        .looseObject({
          callerMeta: z.record(z.string(), z.json()).nullable(),
          executionEnvironment: z.string(),
          sandboxCapability: z.boolean(),
        })
        .parse(one.input)
      const asking = sandboxCapability ? [] : ['--plain']
      await using world = executionEnvironment === 'local' ? await local(asking) : await selected('rootA', asking)
      await using thread = await world.reeve.startThread({
        capabilityRoots: world.roots,
        environments: world
          .select(executionEnvironment)
          .map((place) => ({ ...place, permissions: { type: 'disabled' } })),
      })
      await thread.callTool({ server: 'p', tool: 'whoami', ...(callerMeta && { _meta: callerMeta }) })
      const call = world.received('frames').find(({ method }) => method === 'tools/call')
      expect({ metaKeys: Object.keys(call?.params?._meta ?? {}) }).toEqual(one.expected)
    })
  }

  for (const one of of('pluginId')) {
    it(one.name, async () => {
      const { rootId, plugin } = z
        .looseObject({ rootId: z.string().optional(), plugin: z.string().optional() })
        .parse(one.input)
      await using world = rootId === undefined ? await installed(plugin ?? '') : await selected(rootId)
      await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
      const meta = await metaOfModelCall(world, thread)
      expect({ plugin_id: meta.plugin_id }).toEqual(one.expected)
    })
  }

  for (const one of of('absent')) {
    it(one.name, async () => {
      const { keys } = z.looseObject({ keys: z.array(z.string()) }).parse(one.input)
      await using world = await selected('rootA', ['--plain'])
      await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
      const meta = await metaOfModelCall(world, thread)
      const text = JSON.stringify(meta)
      expect(Object.keys(meta)).toEqual(['plugin_id', 'threadId', 'progressToken'])
      expect({ presentInMeta: keys.some((key) => text.includes(key)) }).toEqual(one.expected)
    })
  }
})

describe('HTTP requests', () => {
  for (const one of of('httpHeaders')) {
    it(titleOf(one), async () => {
      const { position } = z.looseObject({ position: z.number() }).parse(one.input)
      const { headerKeys, values } = z
        .object({ headerKeys: z.array(z.string()), values: z.record(z.string(), z.string()) })
        .parse(wantedOf(one))
      const request = (await httpConversation())[position]
      const own = new Map((request ?? []).filter(([name]) => !CONNECTION.has(name)))
      // The order of fields with different names says nothing (RFC 9110, 5.3).
      expect([...own.keys()].sort()).toEqual([...headerKeys].sort())
      expect(Object.fromEntries([...own].filter(([name]) => name in values))).toEqual(values)
    })
  }
})

/** A conversation's requests in the order of the vectors: initialize, initialized, GET, tools/list, tools/call, DELETE. */
async function httpConversation(): Promise<readonly Headers[]> {
  await using http = await httpServer()
  await using world = await ThreadWorld.open({ config: `[mcp_servers.p]\nurl = "${http.url}"\n${LEGACY}\n` })
  {
    await using thread = await world.reeve.startThread()
    await thread.step({ wait: 'all' })
    await thread.callTool({ server: 'p', tool: 'whoami' })
    await eventually(() => expect(http.requests.map(({ name }) => name)).toContain('GET'))
  }
  await eventually(() => expect(http.requests.map(({ name }) => name)).toContain('DELETE'))
  const headersOf = (name: string) => http.requests.find((request) => request.name === name)?.headers ?? []
  return ['initialize', 'notifications/initialized', 'GET', 'tools/list', 'tools/call', 'DELETE'].map(headersOf)
}

describe('a call that takes too long', () => {
  for (const one of of('cancelled')) {
    it(one.name, async () => {
      await using recorded = await recordedThread()
      const call = { server: 'p', tool: 'hang' }
      await expect(recorded.thread.callTool(call, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' })
      const abort = new AbortController()
      const interrupted = recorded.thread.callTool(call, { signal: abort.signal })
      interrupted.catch(() => {})
      await eventually(() => expect(recorded.frames().filter(({ method }) => method === 'tools/call')).toHaveLength(2))
      abort.abort()
      await expect(interrupted).rejects.toMatchObject({ code: 'cancelled' })
      const cancellations = () => recorded.frames().filter(({ method }) => method === 'notifications/cancelled')
      await eventually(() => expect(cancellations()).toHaveLength(2))
      const [first, second] = cancellations()
      expect(Object.keys(second?.params ?? {})).toEqual(Object.keys(first?.params ?? {}))
      expect({
        count: cancellations().length,
        paramsKeys: Object.keys(first?.params ?? {}),
        reason: first?.params?.reason,
      }).toEqual(one.expected)
    })
  }

  for (const one of of('toolTimeout')) {
    it(one.name, async () => {
      const { textStartsWith } = z.object({ textStartsWith: z.string() }).parse(one.expected)
      const { toolTimeoutSec, server } = z
        .looseObject({ toolTimeoutSec: z.number(), server: z.string() })
        .parse(one.input)
      await using world = await ThreadWorld.open({
        config: notesToml(server, [], `tool_timeout_sec = ${toolTimeoutSec}`),
      })
      await using thread = await world.reeve.startThread()
      const error = await thread.callTool({ server, tool: 'hang' }).catch((caught: unknown) => caught)
      if (!(error instanceof ReeveError)) throw error
      expect(`tool call error: tool call failed for \`p/fails\`\n\nCaused by:\n    ${error.message}`).toBe(
        textStartsWith,
      )
    })
  }

  const defaults: ReadonlyMap<string, number> = new Map([
    ['tools/call', DEFAULT_TOOL_TIMEOUT],
    ['resources/read', OPERATION_TIMEOUT],
    ['initialize', DEFAULT_STARTUP_TIMEOUT],
  ])
  for (const one of of('defaultTimeout')) {
    it(one.name, () => {
      const { method } = z.looseObject({ method: z.string() }).parse(one.input)
      expect({ seconds: (defaults.get(method) ?? 0) / 1000 }).toEqual(one.expected)
    })
  }
})

/** Its parameters with another number, which only tells whose turn it is. */
function withToken(frame: Frame | undefined, progressToken: number): object {
  expect(frame?.params?._meta?.progressToken).toEqual(expect.any(Number))
  return { ...frame?.params, _meta: { ...frame?.params?._meta, progressToken } }
}

const Initialize = z.object({
  params: z.looseObject({
    clientInfo: z.record(z.string(), z.json()),
    capabilities: z.record(z.string(), z.json()),
  }),
})
const LEGACY = 'protocol = "legacy"'
const LAUNCHER = fileURLToPath(new URL('../fixtures/sandbox/launcher.sh', import.meta.url))
/** Beside the server's working directory, which is the world's folder. */
const RECORD = ['--record', 'frames']
const recording = (...more: readonly string[]) => notes('--record', '../../frames', ...more)

/** A thread-wide server, and a launcher that servers of this machine are told of. */
async function local(more: readonly string[] = []): Promise<ThreadWorld> {
  return ThreadWorld.open({
    config: `launcher = ${JSON.stringify(LAUNCHER)}\n${notesToml('p', [...RECORD, ...more], LEGACY)}`,
  })
}

async function selected(rootId: string, more: readonly string[] = []): Promise<ThreadWorld> {
  return ThreadWorld.open({
    executors: ['enva'],
    plugins: [{ id: rootId, environment: 'enva', servers: { p: recording(...more) } }],
  })
}

/** A plugin that is installed on the executor, in the folder where its programs look for it. */
async function installed(plugin: string): Promise<ThreadWorld> {
  const [name = '', market = ''] = plugin.split('@')
  const world = await ThreadWorld.open({
    executors: ['enva'],
    config: `[plugins."${plugin}"]\nenabled = true\n`,
    features: { executor_capability_discovery: true, executor_capability_discovery_v2: true },
  })
  const folder = join(world.folder, '.codex', 'plugins', 'cache', market, name, '1.0.0')
  mkdirSync(join(folder, '.codex-plugin'), { recursive: true })
  writeFileSync(join(folder, '.codex-plugin', 'plugin.json'), JSON.stringify({ name }))
  writeFileSync(
    join(folder, '.mcp.json'),
    JSON.stringify({ mcpServers: { p: notes('--record', join(world.folder, 'frames')) } }),
  )
  return world
}

async function metaOfModelCall(world: ThreadWorld, thread: Thread): Promise<Readonly<Record<string, unknown>>> {
  const step = await thread.step({ wait: 'all' })
  const tool = step.tools.find((one) => one.tool === 'whoami')
  if (tool === undefined) throw new Error('nothing is offered')
  await step.call(tool)
  return world.received('frames').find(({ method }) => method === 'tools/call')?.params?._meta ?? {}
}

interface RecordedThread extends AsyncDisposable {
  readonly thread: Thread
  readonly frames: () => readonly Frame[]
}

/** A thread with one local server, whose every frame is kept. */
async function recordedThread(): Promise<RecordedThread> {
  const world = await ThreadWorld.open({ config: notesToml('p', RECORD, LEGACY) })
  onTestFinished(() => world[Symbol.asyncDispose]())
  const thread = await world.reeve.startThread()
  await thread.step({ wait: 'all' })
  return { thread, frames: () => world.received('frames'), [Symbol.asyncDispose]: () => thread.close() }
}

/** Of the connection and its coding, not of the request. */
const CONNECTION = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding'])
