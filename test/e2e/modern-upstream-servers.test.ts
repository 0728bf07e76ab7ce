import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CapturedServer, FromServer } from '../../src/connections/index.js'
import { serverKey } from '../../src/identity/index.js'
import type { JsonObject } from '../../src/protocol/index.js'
import { type FullServer, fullServer, type Transport } from '../fixtures/connections/full-server.js'
import { offered, RealConnections, textOf } from '../fixtures/connections/real-servers.js'

const FULL = serverKey('full')
const CAPABILITIES = {
  roots: {},
  sampling: {},
  elicitation: { form: {}, url: {} },
  extensions: { 'io.modelcontextprotocol/tasks': {} },
}

/** As a person, a model and a file system would answer. */
const ANSWERS: Record<string, JsonObject> = {
  'elicitation/create': { action: 'accept', content: { name: 'Ada', color: 'green', ok: true, confirm: true } },
  'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'stand-in' },
  'roots/list': { roots: [{ uri: 'file:///work', name: 'work' }] },
}

describe.each<Transport>(['stdio', 'http'])('a modern server of every feature, on the SDK, over %s', (transport) => {
  let full: FullServer
  let connections: RealConnections
  let captured: CapturedServer
  const questions: FromServer[] = []
  beforeEach(async () => {
    questions.length = 0
    full = await fullServer('full', 'server-2026.mjs', transport)
    connections = await RealConnections.open({
      profile: { clientInfo: { name: 'test', version: '1' }, capabilities: CAPABILITIES },
      onRequest: async (question) => {
        questions.push(question)
        return ANSWERS[question.method] ?? {}
      },
    })
    connections.manager.replace([full.entry])
    await connections.manager.capture({ wait: 'all' })
    captured = await connections.manager.captureOne(FULL)
  })
  afterEach(async () => {
    await connections[Symbol.asyncDispose]()
    await full[Symbol.asyncDispose]()
  })

  const call = (tool: string, args: JsonObject = {}, how = {}) =>
    captured.prepareCall(tool).run({ arguments: args }, how)
  const request = (method: string, params: JsonObject, how = {}) =>
    captured.client?.request(method, params, how) ?? Promise.reject(new Error('not up'))

  it('is known by what it says of itself, and warns of nothing', async () => {
    expect(connections.manager.statuses()).toMatchObject([{ status: 'connected', era: 'modern' }])
    expect(captured.inventory).toMatchObject({
      protocolVersion: '2026-07-28',
      serverInfo: { name: 'full-feature-server', websiteUrl: 'https://example.com/full-feature-server' },
      capabilities: { 'com.example/unknown': { nested: { flag: true } } },
      instructions: 'A server for tests that has every feature of the protocol.',
      cacheHints: { tools: { cacheScope: 'public' }, resources: { ttlMs: 60_000 } },
    })
    expect(captured.tools.length).toBeGreaterThan(30)
    const ui = captured.tools.find(({ name }) => name === 'test_ui_app')
    expect(ui).toHaveProperty('_meta.ui')
    expect(connections.events.filter(({ type }) => type === 'warning')).toEqual([])
  })

  it('is told who calls, and with what', async () => {
    const said = JSON.parse(textOf(await call('test_client_info')))
    expect(said).toEqual({
      revision: '2026-07-28',
      client: { name: 'test', version: '1' },
      capabilities: CAPABILITIES,
    })
    const echoed = JSON.parse(textOf(await request('tools/call', { name: 'test_echo', _meta: { 'v/x': [1] } })))
    expect(echoed.meta).toMatchObject({ 'v/x': [1] })
  })

  it('answers content that nobody knows, whole', async () => {
    const result = await call('test_unknown_content')
    expect(JSON.stringify(result)).toContain('hologram')
    expect(result.resultType).toBe('complete')
  })

  it.each([
    ['test_input_required_result_elicitation', 'Hello, Ada!', 1],
    ['test_input_required_result_sampling', 'The model says: Paris', 1],
    ['test_input_required_result_list_roots', 'Roots: file:///work', 1],
    ['test_input_required_result_request_state', 'state-ok', 1],
    ['test_input_required_result_multiple_inputs', 'Paris Ada, 1 roots', 3],
    ['test_input_required_result_multi_round', 'Ada likes green', 2],
  ])('asks within %s', async (tool, answer, asked) => {
    expect(textOf(await call(tool, {}, { origin: tool }))).toBe(answer)
    expect(questions.map(({ origin }) => origin)).toEqual(Array.from({ length: asked }, () => tool))
  })

  it('notices a state that a caller changed', async () => {
    const first = await call('test_input_required_result_tampered_state', {}, { inputRequired: 'return' })
    expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    const again = captured.prepareCall('test_input_required_result_tampered_state').run(
      {
        params: {
          inputResponses: { confirm: ANSWERS['elicitation/create'] ?? {} },
          requestState: `${String(first.requestState).slice(0, -4)}AAAA`,
        },
      },
      { inputRequired: 'return' },
    )
    await expect(again).rejects.toMatchObject({ rpcCode: -32602 })
  })

  it('asks within a reading too', async () => {
    const read = await request('resources/read', { uri: 'test://needs-input' })
    expect(read.contents).toMatchObject([{ text: 'Read by Ada' }])
  })

  it('reports progress under the token of its call, and logs only when asked', async () => {
    const progress: unknown[] = []
    const logs: unknown[] = []
    await call('test_tool_with_progress', {}, { onProgress: (params: JsonObject) => progress.push(params.progress) })
    expect(progress).toEqual([0, 50, 100])
    await call('test_tool_with_logging')
    expect(connections.events.filter(({ type }) => type === 'notification')).toEqual([])
    await call('test_tool_with_logging', {}, { logLevel: 'info', origin: 'mine' })
    for (const event of connections.events) {
      if (event.type === 'notification') logs.push([event.notification.method, event.notification.origin])
    }
    expect(logs).toEqual(Array.from({ length: 3 }, () => ['notifications/message', 'mine']))
  })

  it('hears of a cancelled call, and stops', async () => {
    const abort = new AbortController()
    const slow = call(
      'test_slow',
      { ms: 60_000, label: 'mine' },
      { signal: abort.signal, onProgress: () => abort.abort() },
    )
    await expect(slow).rejects.toMatchObject({ code: 'cancelled' })
    await expect.poll(async () => JSON.parse(textOf(await call('test_cancelled')))).toEqual(['mine'])
  })

  it('tells when its lists change', async () => {
    const changed = connections.next(offered('full'))
    await call('test_trigger_tool_change')
    await changed
    captured = await connections.manager.captureOne(FULL)
    expect(captured.tools.some(({ name }) => name === 'test_added_tool')).toBe(true)
    expect(textOf(await call('test_added_tool'))).toBe('I am there')
  })

  it('tells the changes of what was subscribed to, until nobody wants them', async () => {
    const uri = 'test://watched-resource'
    const updates = () =>
      connections.events.filter(
        (event) => event.type === 'notification' && event.notification.method === 'notifications/resources/updated',
      )
    expect(await request('resources/subscribe', { uri })).toEqual({})
    await call('test_trigger_resource_update', { uri })
    await expect.poll(() => updates().length).toBe(1)
    expect(updates()).toMatchObject([{ notification: { params: { uri } } }])
    expect(JSON.stringify(updates())).not.toContain('subscriptionId')
    expect(await request('resources/unsubscribe', { uri })).toEqual({})
    await expect
      .poll(async () => {
        const before = updates().length
        await call('test_trigger_resource_update', { uri })
        await call('test_simple_text')
        return updates().length - before
      })
      .toBe(0)
  })

  it('may answer a task to a client that knows them, which goes to the caller as it is', async () => {
    const result = await call('test_tool_with_task')
    expect(result).toMatchObject({ resultType: 'task', taskId: expect.any(String) })
    const task = await request('tasks/get', { taskId: String(result.taskId) })
    expect(task).toMatchObject({ taskId: result.taskId })
  })

  it('keeps 50 calls at once apart', async () => {
    const calls = Array.from({ length: 50 }, (_, n) => call('test_echo', { n }))
    const answers = (await Promise.all(calls)).map((result) => JSON.parse(textOf(result)).arguments.n)
    expect(answers).toEqual(Array.from({ length: 50 }, (_, n) => n))
  })
})

describe('the eras of real servers', () => {
  it.each<[string, Transport, string]>([
    ['server-2025.mjs', 'stdio', 'legacy'],
    ['server-2025.mjs', 'http', 'legacy'],
    ['server-2026.mjs', 'stdio', 'modern'],
    ['server-2026.mjs', 'http', 'modern'],
  ])('%s over %s is %s', async (file, transport, era) => {
    await using full = await fullServer('full', file, transport)
    await using connections = await RealConnections.open()
    connections.manager.replace([full.entry])
    await connections.manager.capture({ wait: 'all' })
    const { client, prepareCall } = await connections.manager.captureOne(FULL)
    expect(client?.era).toBe(era)
    expect(textOf(await prepareCall('test_simple_text').run({}))).toContain('simple text')
  })

  it.each<[Transport, 'legacy' | 'modern']>([
    ['stdio', 'modern'],
    ['http', 'modern'],
    ['stdio', 'legacy'],
    ['http', 'legacy'],
  ])('a server of both over %s, pinned to %s, does as it is told', async (transport, protocol) => {
    await using both = await fullServer('full', '../connections/both-eras.mjs', transport, { protocol })
    await using connections = await RealConnections.open()
    connections.manager.replace([both.entry])
    await connections.manager.capture({ wait: 'all' })
    const { client, prepareCall } = await connections.manager.captureOne(FULL)
    expect(client?.era).toBe(protocol)
    expect(textOf(await prepareCall('era').run({}))).toBe(protocol)
  })

  it.each<Transport>(['stdio', 'http'])(
    'a server of both over %s is spoken to in the modern one',
    async (transport) => {
      await using both = await fullServer('full', '../connections/both-eras.mjs', transport)
      await using connections = await RealConnections.open()
      connections.manager.replace([both.entry])
      await connections.manager.capture({ wait: 'all' })
      const { client, prepareCall } = await connections.manager.captureOne(FULL)
      expect(client?.era).toBe('modern')
      expect(textOf(await prepareCall('era').run({}))).toBe('modern')
    },
  )
})
