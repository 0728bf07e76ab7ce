import { describe, expect, it } from 'vitest'
import { CancelledError, OperationTimeoutError, RpcError, TransportClosedError } from '../errors.js'
import { memoryTransports } from './memory.js'
import type { JsonObject, JsonRpcMessage } from './message.js'
import { type InboundRequest, Peer, type PeerHandlers } from './peer.js'
import type { Transport } from './transport.js'

describe('Peer', () => {
  it('relays params and results without touching a member', async () => {
    const { client } = await pair({
      onRequest: async (_method, params) => ({ back: params ?? null, _meta: { 'x.y/z': 1 } }),
    })
    const params = { name: 'echo', unknown: { deep: [1, null, 'é'] }, _meta: { 'vendor/key': true } }
    expect(await client.request('tools/call', params)).toEqual({ back: params, _meta: { 'x.y/z': 1 } })
  })

  it('keeps code, message and data of an error answer', async () => {
    const { client } = await pair({
      onRequest: async () => {
        throw new RpcError(-32042, 'open this first', { elicitations: [{ url: 'https://example.test' }] })
      },
    })
    const error = await client.request('tools/call').catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(RpcError)
    expect(error).toMatchObject({
      rpcCode: -32042,
      message: 'open this first',
      rpcData: { elicitations: [{ url: 'https://example.test' }] },
    })
  })

  it('cancels the other side, by id and with the reason, when the signal fires', async () => {
    const seen = deferred<InboundRequest>()
    const aborted = deferred<void>()
    const { client } = await pair({
      onRequest: (_method, _params, context) => {
        seen.resolve(context)
        context.signal.addEventListener('abort', () => aborted.resolve())
        return new Promise<JsonObject>(() => {})
      },
    })
    const controller = new AbortController()
    const call = client.request('tools/call', {}, { signal: controller.signal })
    await seen.promise
    controller.abort()
    await expect(call).rejects.toBeInstanceOf(CancelledError)
    await aborted.promise
  })

  it('leaves a request without an answer where its owner gives none', async () => {
    const { server } = await pair({}, { onRequest: async (method) => (method === 'ping' ? {} : undefined) })
    const abort = new AbortController()
    const asked = server.request('roots/list', {}, { signal: abort.signal })
    asked.catch(() => {})
    expect(await server.request('ping')).toEqual({})
    expect(server.inFlight).toBe(1)
    abort.abort()
    await expect(asked).rejects.toBeInstanceOf(CancelledError)
  })

  it('says nothing of giving up where the end of the exchange says it all', async () => {
    const [near, far] = memoryTransports()
    const received: JsonRpcMessage[] = []
    far.onmessage = (message) => received.push(message)
    await far.start()
    const client = new Peer(near, silent)
    await client.start()
    const abort = new AbortController()
    const call = client.request('tools/call', {}, { signal: abort.signal, tellsCancellation: false })
    call.catch(() => {})
    abort.abort()
    await expect(call).rejects.toBeInstanceOf(CancelledError)
    await client.notify('last')
    await expect.poll(() => received.map((message) => 'method' in message && message.method)).toContain('last')
    expect(received.map((message) => 'method' in message && message.method)).toEqual(['tools/call', 'last'])
  })

  it('lets the other side end a request that it may end, and no other', async () => {
    const [near, far] = memoryTransports()
    far.onmessage = (message) => {
      if (!('id' in message) || !('method' in message)) return
      void far.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: message.id } })
      if (message.method === 'tools/call') void far.send({ jsonrpc: '2.0', id: message.id, result: { done: true } })
    }
    await far.start()
    const client = new Peer(near, silent)
    await client.start()
    await expect(client.request('subscriptions/listen', {}, { mayBeEnded: true })).rejects.toMatchObject({
      code: 'cancelled',
      message: 'cancelled by the other side',
    })
    expect(await client.request('tools/call', {})).toEqual({ done: true })
  })

  it('times out, tells the other side, and takes the late answer without a warning', async () => {
    const [near, far] = memoryTransports()
    const warnings: Error[] = []
    const client = new Peer(near, { ...silent, onWarning: (warning) => warnings.push(warning) })
    const received: JsonRpcMessage[] = []
    const cancelled = deferred<void>()
    far.onmessage = (message) => {
      received.push(message)
      if ('method' in message && message.method === 'notifications/cancelled') cancelled.resolve()
    }
    await far.start()
    await client.start()
    await expect(client.request('tools/call', {}, { timeoutMs: 5 })).rejects.toBeInstanceOf(OperationTimeoutError)
    await cancelled.promise
    expect(received.at(-1)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'MCP request cancelled by caller' },
    })
    await far.send({ jsonrpc: '2.0', id: 1, result: {} })
    await far.send({ jsonrpc: '2.0', id: 77, result: {} })
    await far.send({ jsonrpc: '2.0', id: '1', result: {} })
    await turn()
    expect(warnings.map((warning) => warning.message)).toEqual([
      'an answer to 77, which nobody asked',
      'an answer to "1", which nobody asked',
    ])
  })

  it('stops the clock of a call while a request of the server is being answered', async () => {
    const question = deferred<JsonObject>()
    const asked = deferred<void>()
    const { client, server } = await pair(
      { onRequest: async () => server.request('elicitation/create', {}) },
      {
        onRequest: () => {
          asked.resolve()
          return question.promise
        },
      },
    )
    const call = client.request('tools/call', {}, { timeoutMs: 40 })
    await asked.promise
    await new Promise((resolve) => setTimeout(resolve, 80))
    question.resolve({ action: 'accept' })
    expect(await call).toEqual({ action: 'accept' })
  })

  it('delivers progress to its own call only, under a token of its own', async () => {
    const tokens: unknown[] = []
    const { client, server } = await pair({
      onRequest: async (_method, params) => {
        const meta = params?._meta as JsonObject
        tokens.push(meta.progressToken)
        await server.notify('notifications/progress', {
          progressToken: meta.progressToken ?? null,
          progress: 1,
          message: String(params?.name),
        })
        return { kept: meta.other ?? null }
      },
    })
    const a: JsonObject[] = []
    const b: JsonObject[] = []
    const results = await Promise.all([
      client.request(
        'tools/call',
        { name: 'a', _meta: { progressToken: 'same', other: 1 } },
        { onProgress: (params) => a.push(params) },
      ),
      client.request(
        'tools/call',
        { name: 'b', _meta: { progressToken: 'same', other: 2 } },
        { onProgress: (params) => b.push(params) },
      ),
    ])
    expect(results).toEqual([{ kept: 1 }, { kept: 2 }])
    expect(a.map((params) => params.message)).toEqual(['a'])
    expect(b.map((params) => params.message)).toEqual(['b'])
    expect(new Set(tokens).size).toBe(2)
  })

  it('fails what is open when the transport ends, and says that it was sent', async () => {
    const { client, server } = await pair({ onRequest: () => new Promise<JsonObject>(() => {}) })
    const call = client.request('tools/call')
    await turn()
    await server.close()
    await expect(call).rejects.toMatchObject({ code: 'transport_closed', sent: true })
    await expect(client.request('tools/call')).rejects.toMatchObject({ code: 'transport_closed', sent: false })
  })

  it('refuses a second request under an id that is in use, and still answers the first', async () => {
    const [near, far] = memoryTransports()
    const answer = deferred<JsonObject>()
    const server = new Peer(far, { ...silent, onRequest: () => answer.promise })
    const received: JsonRpcMessage[] = []
    const both = deferred<void>()
    near.onmessage = (message) => {
      received.push(message)
      if (received.length === 2) both.resolve()
    }
    await near.start()
    await server.start()
    await near.send({ jsonrpc: '2.0', id: 1, method: 'a' })
    await near.send({ jsonrpc: '2.0', id: 1, method: 'b' })
    await turn()
    answer.resolve({ ok: true })
    await both.promise
    expect(received).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'request id 1 is already in use' } },
      { jsonrpc: '2.0', id: 1, result: { ok: true } },
    ])
  })

  it('rejects the request, not the connection, when one message cannot be sent', async () => {
    const [near, far] = memoryTransports()
    const refusing: Transport = near
    const send = near.send.bind(near)
    refusing.send = async (message, options) => {
      if ('method' in message && message.method === 'bad') throw new TransportClosedError('refused', { sent: false })
      return send(message, options)
    }
    const server = new Peer(far, { ...silent, onRequest: async () => ({ ok: true }) })
    const client = new Peer(refusing, silent)
    await Promise.all([server.start(), client.start()])
    await expect(client.request('bad')).rejects.toMatchObject({ message: 'refused' })
    expect(await client.request('good')).toEqual({ ok: true })
  })
})

const silent: PeerHandlers = {
  onRequest: async (method) => {
    throw new RpcError(-32601, `Method not found: ${method}`)
  },
  onNotification: () => {},
  onClose: () => {},
  onWarning: () => {},
}

async function pair(
  serverSide: Partial<PeerHandlers>,
  clientSide: Partial<PeerHandlers> = {},
): Promise<{ client: Peer; server: Peer }> {
  const [near, far] = memoryTransports()
  const client = new Peer(near, { ...silent, ...clientSide })
  const server = new Peer(far, { ...silent, ...serverSide })
  await Promise.all([client.start(), server.start()])
  return { client, server }
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
