import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { DocsServer } from '../fixtures/connections/docs-server.js'
import { answer, startModernServer, TOOL } from '../fixtures/http/modern-server.js'
import { startSdkV1Server } from '../fixtures/http/sdk-v1-server.js'
import { type Route, startServer, type Turn } from '../fixtures/http/server.js'

describe('a modern server over HTTP', () => {
  const docs = new DocsServer()

  it('is spoken to without handshake, session, stream or goodbye', async () => {
    const server = await startModernServer()
    const { client, prepareCall } = await docs.up(server)
    expect(client).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28', serverInfo: { name: 'strict' } })
    await prepareCall('echo').run({ arguments: { n: 1 } })
    await client?.notify('notifications/roots/list_changed')
    await docs.connections.manager.close()
    expect(server.received.map(({ http, rpc }) => `${http} ${rpc}`)).toEqual([
      'POST server/discover',
      'POST tools/list',
      'POST tools/call',
    ])
    for (const { headers } of server.received) {
      expect(headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28' })
      expect(headers).not.toHaveProperty('mcp-session-id')
    }
  })

  it('reads in the headers what is called, whatever its name', async () => {
    const server = await startModernServer(
      {
        'resources/read': (turn) => answer(turn, { contents: [] }),
        'prompts/get': (turn) => answer(turn, { messages: [] }),
        'completion/complete': (turn) => answer(turn, { completion: { values: [] } }),
      },
      { tools: () => [{ ...TOOL, name: 'grüße\n' }] },
    )
    const { client, prepareCall } = await docs.up(server)
    await prepareCall('grüße\n').run({})
    await client?.request('resources/read', { uri: 'file:///ä b' })
    await client?.request('prompts/get', { name: '=?base64?eA==?=' })
    await client?.request('completion/complete', { ref: { type: 'ref/prompt', name: 'x' } })
    expect(server.requests.slice(2).map(({ headers }) => [headers['mcp-method'], headers['mcp-name']])).toEqual([
      ['tools/call', `=?base64?${Buffer.from('grüße\n').toString('base64')}?=`],
      ['resources/read', `=?base64?${Buffer.from('file:///ä b').toString('base64')}?=`],
      ['prompts/get', `=?base64?${Buffer.from('=?base64?eA==?=').toString('base64')}?=`],
      ['completion/complete', undefined],
    ])
  })

  it('that ends its stream before the answer fails the call at once, and is not asked for the rest', async () => {
    const server = await startModernServer({
      'tools/call': ({ stream, event, response }) => {
        stream()
        event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }, { id: 'e1', retry: 1 })
        response.end()
      },
    })
    const { prepareCall } = await docs.up(server)
    await expect(prepareCall('echo').run({}, { timeoutMs: 60_000 })).rejects.toMatchObject({
      code: 'transport_closed',
      sent: true,
      message: expect.stringContaining('ended before the answer'),
    })
    expect(server.of('GET')).toEqual([])
  })

  it('learns of a cancelled call by the end of its stream alone', async () => {
    let closed: Promise<void> = Promise.resolve()
    let begun = () => {}
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const server = await startModernServer({
      'tools/call': ({ stream, response }) => {
        stream()
        closed = new Promise((resolve) => response.once('close', resolve))
        begun()
      },
    })
    const { prepareCall } = await docs.up(server)
    const abort = new AbortController()
    const call = prepareCall('echo').run({}, { signal: abort.signal })
    call.catch(() => {})
    await isBegun
    abort.abort()
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    await closed
    expect(server.rpcs()).not.toContain('notifications/cancelled')
  })

  it('that asks by a request of its own gets no answer, and is named', async () => {
    const server = await startModernServer({
      'tools/call': ({ stream, event, message, response }) => {
        stream()
        event({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: {} })
        event({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
        response.end()
      },
    })
    const asked: string[] = []
    docs.options = {
      onRequest: async ({ method }) => {
        asked.push(method)
        return {}
      },
    }
    const { prepareCall } = await docs.up(server)
    await prepareCall('echo').run({})
    const warning = await docs.connections.event((event) => event.type === 'warning')
    expect(warning).toMatchObject({ message: expect.stringContaining('asked elicitation/create by a request') })
    await docs.connections.manager.close()
    expect(asked).toEqual([])
    expect(server.received.filter(({ rpc }) => rpc === undefined)).toEqual([])
  })

  it('gets every member of a request, and every member of its result comes back', async () => {
    const result = {
      resultType: 'complete',
      content: [
        { type: 'hologram', beams: [1, { deep: null }] },
        { type: 'text', text: 'ä', 'x-own': true },
      ],
      structuredContent: [1, 'two', null],
      vendor: { kept: { as: 'it is' } },
      _meta: { 'com.example/x': [[]] },
    }
    const server = await startModernServer({ 'tools/call': (turn) => turn.result(result) })
    const { client } = await docs.up(server)
    const params = {
      name: 'echo',
      arguments: { n: 1 },
      unheard: { of: [0] },
      _meta: { traceparent: '00-1', 'v/x': {} },
    }
    expect(await client?.request('tools/call', params)).toEqual(result)
    const [seen] = server.requestsOf('tools/call')
    expect(seen?.params).toMatchObject(params)
    expect(Object.keys((seen?.params._meta as JsonObject) ?? {})).toEqual([
      'traceparent',
      'v/x',
      'io.modelcontextprotocol/protocolVersion',
      'io.modelcontextprotocol/clientInfo',
      'io.modelcontextprotocol/clientCapabilities',
    ])
  })

  it('hears the wanted log level with each later request, or another one for a single request', async () => {
    const server = await startModernServer({}, { capabilities: { tools: {}, logging: {} } })
    const { client } = await docs.up(server)
    const call = (how = {}) => client?.request('tools/call', { name: 'echo' }, how)
    await call()
    expect(await client?.request('logging/setLevel', { level: 'warning' })).toEqual({})
    expect(await client?.request('ping', {})).toEqual({})
    await call()
    await call({ logLevel: 'debug' })
    const levels = server
      .requestsOf('tools/call')
      .map(({ params }) => (params._meta as JsonObject)['io.modelcontextprotocol/logLevel'])
    expect(levels).toEqual([undefined, 'warning', 'debug'])
    expect(server.rpcs()).not.toContain('logging/setLevel')
    expect(server.rpcs()).not.toContain('ping')
  })

  it('is listened to on one stream, which is opened again when it ends', async () => {
    const streams: Turn[] = []
    const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } }
    const server = await startModernServer(
      {
        'subscriptions/listen': (turn) => {
          streams.push(turn)
          turn.stream()
          say(turn, 'notifications/subscriptions/acknowledged', { notifications: turn.message.params?.notifications })
        },
        'resources/list': (turn) => answer(turn, { resources: [], ttlMs: 0, cacheScope: 'private' }),
        'resources/templates/list': (turn) => answer(turn, { resourceTemplates: [], ttlMs: 0, cacheScope: 'private' }),
      },
      { capabilities },
    )
    const { client } = await docs.up(server)
    await client?.request('resources/subscribe', { uri: 'file:///a' })
    expect(streams.map(({ message }) => message.params?.notifications)).toEqual([
      { toolsListChanged: true },
      { toolsListChanged: true, resourceSubscriptions: ['file:///a'] },
    ])
    await expect.poll(() => streams[0]?.response.closed).toBe(true)
    streams[1]?.response.end()
    await expect.poll(() => streams.length, { timeout: 10_000 }).toBe(3)
    const third = streams[2]
    if (third === undefined) throw new Error('no third stream')
    say(third, 'notifications/resources/updated', { uri: 'file:///a' })
    const update = await docs.connections.event((event) => event.type === 'notification')
    expect(update).toMatchObject({ notification: { params: { uri: 'file:///a' } } })
    await docs.connections.manager.close()
    await expect.poll(() => third.response.closed).toBe(true)
    expect(server.of('GET')).toEqual([])
    expect(server.rpcs()).not.toContain('resources/subscribe')
    expect(server.rpcs()).not.toContain('notifications/cancelled')
  })

  it('that became a legacy one is spoken to as such, without losing the request', async () => {
    const first = await startModernServer()
    const { client } = await docs.up(first)
    const port = Number(new URL(first.url).port)
    await first.close()
    const second = await startServer(
      {
        'tools/list': ({ error, message, result }) =>
          message.params?._meta === undefined
            ? result({ tools: [TOOL] })
            : error(-32022, 'Unsupported protocol version', 400),
      },
      { port },
    )
    docs.owns(second)
    expect(await client?.request('tools/list', {})).toEqual({ tools: [TOOL] })
    expect(second.rpcs()).toContain('initialize')
  })

  it.each<[string, (port: number) => Promise<{ close(): Promise<unknown> }>]>([
    ['with sessions', (port) => startSdkV1Server({ port })],
    [
      'that has moved its page elsewhere',
      (port) => startServer({ 'tools/list': onlyInSession }, { port, session: 's1' }),
    ],
  ])('that was replaced by a legacy one %s is spoken to as such', async (_what, start) => {
    const first = await startModernServer()
    const { client } = await docs.up(first)
    const port = Number(new URL(first.url).port)
    await first.close()
    const second = await start(port)
    docs.owns(second)
    expect(await client?.request('tools/list', {})).toHaveProperty('tools')
    await expect.poll(() => docs.connections.manager.statuses()).toMatchObject([{ status: 'connected', era: 'legacy' }])
  })

  it('is listed again when the time that it set has passed and nobody listens', async () => {
    const server = await startModernServer({
      'tools/list': (turn) => answer(turn, { tools: [TOOL], ttlMs: 1, cacheScope: 'public' }),
    })
    const { inventory } = await docs.up(server)
    expect(inventory?.cacheHints).toEqual({ tools: { ttlMs: 1, cacheScope: 'public' } })
    await expect
      .poll(async () => {
        await docs.connections.manager.capture()
        return server.requestsOf('tools/list').length
      })
      .toBeGreaterThan(1)
  })
})

const onlyInSession: Route = ({ request, text, result }) =>
  request.headers['mcp-session-id'] === undefined ? text(404, 'nothing here') : result({ tools: [TOOL] })

function say({ event, message }: Turn, method: string, params: Record<string, unknown>): void {
  const _meta = { 'io.modelcontextprotocol/subscriptionId': message.id }
  event({ jsonrpc: '2.0', method, params: { ...params, _meta } })
}
