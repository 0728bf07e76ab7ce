import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { MCP_HEADERS, openStream, RawSession, RawStream, send, start } from '../../../test/e2e/gateway/raw-http.js'
import { RpcError } from '../../errors.js'
import { type InboundRequest, type JsonObject, Peer } from '../../protocol/index.js'
import type { Authentication } from './authentication.js'
import type { HttpLimits } from './limits.js'
import { type RunningHttpServer, startHttpServer } from './server.js'
import type { HttpSessionTransport } from './session-transport.js'

const TOKEN = 't'.repeat(43)
const running: RunningHttpServer[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

/** The other side of every session of a gateway under test: echoes, waits, talks in between. */
class Sessions {
  readonly peers: Peer[] = []
  readonly transports: HttpSessionTransport[] = []
  readonly warnings: Error[] = []
  readonly notifications: string[] = []
  /** Fires when a `wait` was cancelled. */
  readonly cancelled: unknown[] = []
  readonly #held = new Map<unknown, (result: JsonObject) => void>()
  #holding: (() => void) | undefined

  serve = (transport: HttpSessionTransport): void => {
    const peer: Peer = new Peer(transport, {
      onRequest: (method, params, context) => this.#answer(peer, transport, method, params ?? {}, context),
      onNotification: (method) => this.notifications.push(method),
      onClose: () => this.notifications.push('closed'),
      onWarning: (warning) => this.warnings.push(warning),
    })
    void peer.start()
    this.peers.push(peer)
    this.transports.push(transport)
  }

  release(name: unknown, result: JsonObject = {}): void {
    this.#held.get(name)?.(result)
    this.#held.delete(name)
  }

  /** Until a `wait` has arrived. */
  holding(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#held.size > 0) resolve()
      else this.#holding = resolve
    })
  }

  async #answer(
    peer: Peer,
    transport: HttpSessionTransport,
    method: string,
    params: JsonObject,
    context: InboundRequest,
  ): Promise<JsonObject> {
    if (method === 'initialize') {
      if (params.refuse === true) throw new RpcError(-32602, 'refused')
      transport.protocolVersion(String(params.protocolVersion))
      return {
        protocolVersion: params.protocolVersion ?? '',
        capabilities: {},
        serverInfo: { name: 't', version: '1' },
      }
    }
    if (method === 'echo') return params
    if (method === 'talk') {
      for (const text of params.texts as string[]) await peer.notify('said', { text }, { relatedTo: context.id })
      return { done: true }
    }
    if (method === 'ask') return peer.request('question', {}, { relatedTo: context.id })
    if (method === 'talk-and-wait') await peer.notify('said', {}, { relatedTo: context.id })
    if (method === 'wait' || method === 'talk-and-wait') {
      context.signal.addEventListener('abort', () => this.cancelled.push(params.name))
      this.#holding?.()
      return new Promise((resolve) => {
        this.#held.set(params.name, resolve)
        this.#holding?.()
      })
    }
    throw new RpcError(-32601, 'no such method')
  }
}

async function gateway(
  limits: Partial<HttpLimits> = {},
  options: { authentication?: Authentication; allowedHosts?: string[]; allowedOrigins?: string[] } = {},
) {
  const sessions = new Sessions()
  const server = await startHttpServer({
    authentication: { kind: 'none' },
    ...options,
    limits,
    serve: sessions.serve,
    answerModern: noModern,
    onWarning: (warning) => sessions.warnings.push(warning),
  })
  running.push(server)
  return { url: server.url, server, sessions }
}

const noModern = () => Promise.reject(new RpcError(-32601, 'no such method'))

const initialize = (params: JsonObject = {}) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' }, ...params },
  })

describe('who may talk to the gateway', () => {
  it('refuses to be open to others without a token', async () => {
    const options = { serve: () => undefined, answerModern: noModern, onWarning: () => undefined }
    await expect(
      startHttpServer({ ...options, host: '0.0.0.0', authentication: { kind: 'none' } }),
    ).rejects.toMatchObject({ code: 'open_gateway', place: 'address 0.0.0.0' })
    const server = await startHttpServer({
      ...options,
      host: '0.0.0.0',
      authentication: { kind: 'bearer', token: TOKEN },
    })
    await server.close()
  })

  it('names the address when the port is taken', async () => {
    const { url } = await gateway()
    const port = Number(new URL(url).port)
    await expect(
      startHttpServer({
        port,
        authentication: { kind: 'none' },
        serve: () => undefined,
        answerModern: noModern,
        onWarning: () => undefined,
      }),
    ).rejects.toMatchObject({ code: 'listen', place: `address 127.0.0.1:${port}` })
  })

  it.each([
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost@evil.example', 403],
    ['localhost', 400],
    ['localhost:1', 400],
    ['[::1]:9', 400],
    ['gateway.internal', 400],
    ['GATEWAY.internal:8080', 400],
  ])('checks Host %s', async (host, status) => {
    const { url } = await gateway({}, { allowedHosts: ['gateway.internal'] })
    expect((await send(url, { headers: { host }, body: '{' })).status).toBe(status)
  })

  it.each([
    ['https://evil.example', 403],
    ['null', 403],
    ['http://localhost.evil.example', 403],
    ['file://', 403],
    ['http://localhost:6274', 400],
    ['http://127.0.0.1', 400],
    ['https://inspector.example', 400],
  ])('checks Origin %s', async (origin, status) => {
    const { url } = await gateway({}, { allowedOrigins: ['https://inspector.example'] })
    const answer = await send(url, { headers: { origin }, body: '{' })
    expect(answer.status).toBe(status)
    expect(answer.headers['access-control-allow-origin']).toBe(status === 403 ? undefined : origin)
  })

  it('answers a preflight of an allowed origin without a token', async () => {
    const { url } = await gateway({}, { authentication: { kind: 'bearer', token: TOKEN } })
    const answer = await send(url, { method: 'OPTIONS', headers: { origin: 'http://localhost:6274' } })
    expect(answer.status).toBe(204)
    expect(answer.headers['access-control-allow-headers']).toContain('Mcp-Session-Id')
  })

  it('wants the bearer token and never repeats what was sent', async () => {
    const { url } = await gateway({}, { authentication: { kind: 'bearer', token: TOKEN } })
    const without = await send(url, { body: initialize() })
    expect(without.status).toBe(401)
    expect(without.headers['www-authenticate']).toBe('Bearer realm="reeve"')
    for (const authorization of [`Bearer ${TOKEN}x`, 'Bearer guess', `Basic ${TOKEN}`, 'Bearer']) {
      const wrong = await send(url, { headers: { authorization }, body: initialize() })
      expect(wrong.status).toBe(401)
      expect(wrong.headers['www-authenticate']).toContain('invalid_token')
      expect(wrong.text).not.toContain('guess')
      expect(wrong.text).not.toContain(TOKEN)
    }
    const right = await send(url, { headers: { authorization: `bearer ${TOKEN}` }, body: initialize() })
    expect(right.status).toBe(200)
  })

  it('binds a session to the principal that opened it', async () => {
    const authenticate = (authorization: string | undefined) =>
      authorization === undefined ? undefined : { id: authorization }
    const { url } = await gateway({}, { authentication: { kind: 'custom', authenticate } })
    const session = await RawSession.open(url, { token: 'ann' })
    expect((await session.request('echo', {})).status).toBe(200)
    const theft = new RawSession(url, { ...session.headers, authorization: 'Bearer bob' })
    expect((await theft.request('echo', {})).status).toBe(403)
    expect((await theft.end()).status).toBe(403)
    expect((await session.request('echo', {})).status).toBe(200)
  })

  it('answers /health without a token, and nothing else beside the endpoint', async () => {
    const { url } = await gateway({}, { authentication: { kind: 'bearer', token: TOKEN } })
    const health = await send(url, { method: 'GET', path: '/health' })
    expect([health.status, health.json()]).toEqual([200, { status: 'ok' }])
    for (const path of ['/', '/mcp/', '/.well-known/oauth-protected-resource', '/sse']) {
      expect((await send(url, { method: 'GET', path })).status).toBe(404)
    }
  })
})

describe('what a POST must be', () => {
  it.each([
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/jsonp' }, 415],
    [{ 'content-type': 'application/json; charset=latin1' }, 415],
    [{ 'content-encoding': 'gzip' }, 415],
    [{ accept: 'application/json' }, 406],
    [{ accept: 'text/event-stream' }, 406],
    [{ accept: 'application/json, text/event-stream;q=0' }, 406],
    [{ accept: '*/*', 'content-type': 'application/json;charset=UTF-8' }, 200],
    [{ accept: 'application/*, text/*' }, 200],
  ])('checks %j', async (headers, status) => {
    const { url } = await gateway()
    expect((await send(url, { headers, body: initialize() })).status).toBe(status)
  })

  it.each([
    ['no JSON', '{"jsonrpc":', -32700],
    ['nothing', '', -32700],
    ['a scalar', '7', -32600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['an id of null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['an id that JSON numbers cannot carry', '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', -32600],
    ['params as a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600],
    ['an empty batch', '[]', -32600],
    ['a result without an id', '{"jsonrpc":"2.0","result":{}}', -32600],
  ])('answers %s with 400', async (_what, body, code) => {
    const { url } = await gateway()
    const answer = await send(url, { body })
    expect(answer.status).toBe(400)
    expect(answer.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } })
  })

  it('answers bytes that are no UTF-8 with 400', async () => {
    const { url } = await gateway()
    const answer = await send(url, { body: Buffer.from([0x22, 0xff, 0x22]) })
    expect([answer.status, answer.json()]).toMatchObject([400, { error: { code: -32700 } }])
  })

  it('refuses a body over the limit, announced or not, and goes on', async () => {
    const { url } = await gateway({ bodyBytes: 1000, closeMs: 50 })
    const body = initialize({ padding: 'x'.repeat(2000) })
    expect((await send(url, { body, headers: { 'content-length': String(body.length) } })).status).toBe(413)
    const chunked = await send(url, { body: Buffer.from(body), headers: { 'transfer-encoding': 'chunked' } })
    expect(chunked.status).toBe(413)
    expect((await send(url, { body: initialize() })).status).toBe(200)
  })

  it('tells a client that uploads without end, then cuts it', async () => {
    const { url } = await gateway({ bodyBytes: 1000, closeMs: 50 })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    let said = ''
    socket.on('data', (chunk) => {
      said += chunk
    })
    socket.on('error', () => undefined)
    socket.write(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const pump = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', pump)
    pump()
    await new Promise((resolve) => socket.once('close', resolve))
    expect(said).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('does not wait for a body that never comes', async () => {
    const { url } = await gateway({ headersMs: 200, requestMs: 200 })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    )
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 408 /)
    await once(socket, 'close')
  })

  it('allows only the methods of the transport', async () => {
    const { url } = await gateway()
    const answer = await send(url, { method: 'PUT', body: '{}' })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST, DELETE'])
  })
})

describe('sessions', () => {
  it('gives out an id with initialize, knows it, and ends it on DELETE', async () => {
    const { url, sessions } = await gateway()
    const first = await send(url, { body: initialize() })
    const id = String(first.headers['mcp-session-id'])
    expect(id).toMatch(/^[\w-]{43}$/)
    const session = new RawSession(url, { 'mcp-session-id': id })
    expect((await session.request('echo', { a: 1 }, 1)).json()).toEqual({ jsonrpc: '2.0', id: 1, result: { a: 1 } })
    expect((await session.notify('hello')).status).toBe(202)
    expect((await session.end()).status).toBe(204)
    expect(sessions.notifications).toEqual(['hello', 'closed'])
    expect((await session.request('echo')).status).toBe(404)
    expect((await session.listen()).response.statusCode).toBe(404)
    expect((await session.end()).status).toBe(404)
  })

  it('wants a session for everything but initialize', async () => {
    const { url } = await gateway()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect((await send(url, { body })).status).toBe(400)
    expect((await send(url, { method: 'GET' })).status).toBe(400)
    expect((await send(url, { method: 'DELETE' })).status).toBe(400)
    const unknown = { 'mcp-session-id': 'nobody' }
    expect((await send(url, { body, headers: unknown })).status).toBe(404)
    expect((await send(url, { body: initialize(), headers: unknown })).status).toBe(404)
  })

  it('keeps no session whose initialize was refused', async () => {
    const { url, sessions } = await gateway()
    const answer = await send(url, { body: initialize({ refuse: true }) })
    expect([answer.status, answer.headers['mcp-session-id']]).toEqual([200, undefined])
    expect(answer.json()).toMatchObject({ id: 0, error: { code: -32602 } })
    expect(sessions.notifications).toEqual(['closed'])
  })

  it('refuses a revision that it does not serve', async () => {
    const { url } = await gateway()
    const session = await RawSession.open(url)
    for (const revision of ['2026-07-28', '1999-01-01', 'x'.repeat(5000)]) {
      const strange = new RawSession(url, { ...session.headers, 'mcp-protocol-version': revision })
      expect((await strange.request('echo')).status).toBe(400)
      expect((await strange.listen()).response.statusCode).toBe(400)
    }
    const silent = new RawSession(url, { 'mcp-session-id': String(session.headers['mcp-session-id']) })
    expect((await silent.request('echo')).status).toBe(200)
  })

  it('refuses newcomers at the limit and gives up none in use', async () => {
    const { url, sessions } = await gateway({ sessions: 2, evictAfterMs: 0, idleMs: 60_000 })
    const [one, two] = [await RawSession.open(url), await RawSession.open(url)]
    const streams = [await one.listen(), await two.listen()]
    const refused = await send(url, { body: initialize() })
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30'])
    expect((await one.request('echo')).status).toBe(200)
    streams[1]?.drop()
    await expect.poll(() => sessions.transports[1]?.idleMs).toBeDefined()
    await RawSession.open(url)
    expect((await one.request('echo')).status).toBe(200)
    expect((await two.request('echo')).status).toBe(404)
  })

  it('closes a session that nobody uses', async () => {
    const { url, sessions } = await gateway({ idleMs: 100 })
    await RawSession.open(url)
    await expect.poll(() => sessions.notifications).toContain('closed')
  })

  it('ends sessions and answers what waits when the gateway closes', async () => {
    const { url, server, sessions } = await gateway()
    const session = await RawSession.open(url)
    const stream = await session.listen()
    const waiting = session.request('wait', { name: 'x' })
    await sessions.holding()
    await server.close()
    expect((await waiting).status).toBe(404)
    while ((await stream.next()) !== undefined);
    await expect(send(url, { body: initialize() })).rejects.toThrow('ECONNREFUSED')
  })
})

it('opens no session while it closes', async () => {
  const { url, server, sessions } = await gateway()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const first = request(url, { method: 'POST', agent, headers: { ...MCP_HEADERS, 'content-length': '9999' } })
  first.write(initialize().slice(0, 10))
  await once(first, 'socket')
  const body = initialize()
  const answered = once(first, 'response')
  await expect.poll(() => first.socket?.connecting).toBe(false)
  // The head has arrived once a later connection was served.
  await send(url, { method: 'GET', path: '/health' })
  const closing = server.close()
  first.end(body.slice(10).padEnd(9999 - 10))
  const [response] = (await answered) as [IncomingMessage]
  expect(response.statusCode).toBe(503)
  response.resume()
  await closing
  agent.destroy()
  expect(sessions.transports).toEqual([])
})

describe('the answer to a POST', () => {
  it('is plain JSON when the answer comes first', async () => {
    const { url } = await gateway()
    const session = await RawSession.open(url)
    const answer = await session.request('echo', { text: 'é\u2028' })
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.json().result).toEqual({ text: 'é\u2028' })
  })

  it('is a stream when something comes before the answer', async () => {
    const { url } = await gateway()
    const session = await RawSession.open(url)
    const stream = await session.stream('talk', { texts: ['a', 'b\nc'] }, 5)
    expect(stream.response.headers['content-type']).toBe('text/event-stream')
    expect(await stream.next()).toMatchObject({ id: '1-0', data: '' })
    expect(stream.retry).toBe(1000)
    expect(await stream.message()).toMatchObject({ method: 'said', params: { text: 'a' } })
    expect(await stream.message()).toMatchObject({ method: 'said', params: { text: 'b\nc' } })
    expect(await stream.message()).toEqual({ jsonrpc: '2.0', id: 5, result: { done: true } })
    expect(await stream.next()).toBeUndefined()
  })

  it('does not prime streams of older revisions', async () => {
    const { url } = await gateway()
    const session = await RawSession.open(url, { revision: '2025-06-18' })
    const stream = await session.stream('talk', { texts: ['a'] })
    expect((await stream.next())?.json()).toMatchObject({ method: 'said' })
  })

  it('becomes a stream with signs of life when the answer takes long', async () => {
    const { url, sessions } = await gateway({ plainMs: 20, keepAliveMs: 20 })
    const session = await RawSession.open(url)
    const response = await start(url, {
      headers: session.headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'wait', params: { name: 'x' } }),
    })
    let text = ''
    response.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    await expect.poll(() => text).toContain(': keep-alive\n\n: keep-alive\n\n')
    sessions.release('x', { late: true })
    await once(response, 'end')
    expect(text).toContain('data: {"jsonrpc":"2.0","id":9,"result":{"late":true}}\n\n')
  })

  it('carries requests to the client on the stream of the request that caused them', async () => {
    const { url } = await gateway()
    const session = await RawSession.open(url)
    const idle = await session.listen()
    const [left, right] = [await session.stream('ask', {}, 'L'), await session.stream('ask', {}, 'R')]
    const [question, other] = [await left.message(), await right.message()]
    expect([question.method, other.method]).toEqual(['question', 'question'])
    await session.post({ jsonrpc: '2.0', id: other.id, result: { of: 'right' } })
    await session.post({ jsonrpc: '2.0', id: question.id, result: { of: 'left' } })
    expect(await left.message()).toEqual({ jsonrpc: '2.0', id: 'L', result: { of: 'left' } })
    expect(await right.message()).toEqual({ jsonrpc: '2.0', id: 'R', result: { of: 'right' } })
    expect(idle.events.filter(({ data }) => data !== '')).toEqual([])
    idle.drop()
  })

  it('ends when the client cancels, in either form', async () => {
    const { url, sessions } = await gateway()
    const session = await RawSession.open(url)
    const plain = session.request('wait', { name: 'plain' }, 1)
    await sessions.holding()
    await session.notify('notifications/cancelled', { requestId: 1 })
    expect(await plain).toMatchObject({ status: 200, text: '' })
    expect(sessions.cancelled).toEqual(['plain'])
    const stream = await session.stream('talk-and-wait', { name: 'streamed' }, 2)
    await stream.message()
    await session.notify('notifications/cancelled', { requestId: 2 })
    expect(await stream.next()).toBeUndefined()
    expect(sessions.cancelled).toEqual(['plain', 'streamed'])
  })

  it('goes on when the client leaves: that is no cancellation', async () => {
    const { url, sessions } = await gateway()
    const session = await RawSession.open(url)
    const response = start(url, {
      headers: session.headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'wait', params: { name: 'x' } }),
    })
    await sessions.holding()
    const busy = await session.request('echo', {}, 1)
    expect([busy.status, busy.json()]).toMatchObject([400, { error: { code: -32600 } }])
    sessions.release('x')
    ;(await response).destroy()
    expect(sessions.cancelled).toEqual([])
  })

  it('refuses more requests at once than its limit', async () => {
    const { url, sessions } = await gateway({ inFlight: 1 })
    const session = await RawSession.open(url)
    const first = session.request('wait', { name: 'x' })
    await sessions.holding()
    expect((await session.request('echo')).status).toBe(503)
    expect((await session.notify('hello')).status).toBe(202)
    sessions.release('x')
    expect((await first).status).toBe(200)
  })

  it('still answers when the result cannot be written', async () => {
    const { url, sessions } = await gateway()
    const session = await RawSession.open(url)
    const answer = session.request('wait', { name: 'deep' })
    await sessions.holding()
    let deep: JsonObject = {}
    for (let level = 0; level < 200_000; level += 1) deep = { deep }
    sessions.release('deep', deep)
    expect((await answer).json()).toMatchObject({ error: { code: -32603 } })
  })
})

describe('batches', () => {
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'echo', params: { n: 1 } },
    { jsonrpc: '2.0', method: 'hello' },
    { jsonrpc: '2.0', id: 2, method: 'nothing' },
  ]

  it('are answered as one array in the revision that has them', async () => {
    const { url, sessions } = await gateway()
    const session = await RawSession.open(url, { revision: '2025-03-26' })
    const answer = await session.post(batch)
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toEqual([
      { jsonrpc: '2.0', id: 1, result: { n: 1 } },
      { jsonrpc: '2.0', id: 2, error: { code: -32601, message: 'no such method' } },
    ])
    expect(sessions.notifications).toContain('hello')
    expect((await session.post([batch[1]])).status).toBe(202)
    expect((await session.post([batch[0], batch[0]])).status).toBe(400)
    expect((await session.post([JSON.parse(initialize())])).status).toBe(400)
  })

  it('are refused in the others', async () => {
    const { url } = await gateway()
    for (const revision of ['2024-11-05', '2025-06-18', '2025-11-25']) {
      const session = await RawSession.open(url, { revision })
      expect((await session.post(batch)).status).toBe(400)
    }
    expect((await send(url, { body: `[${initialize()}]` })).status).toBe(400)
  })
})

describe('streams', () => {
  const said = (text: string) => ({ method: 'said', params: { text } })

  it('delivers what came before anybody listened', async () => {
    const { url, sessions } = await gateway()
    const session = await RawSession.open(url)
    await sessions.peers[0]?.notify('said', { text: 'early' })
    const stream = await session.listen()
    expect(await stream.message()).toMatchObject(said('early'))
    await sessions.peers[0]?.notify('said', { text: 'late' })
    expect(await stream.message()).toMatchObject(said('late'))
    stream.drop()
  })

  it('hands the standalone stream to whoever opened it last', async () => {
    const { url, sessions } = await gateway()
    const session = await RawSession.open(url)
    const former = await session.listen()
    const newest = await session.listen()
    while ((await former.next()) !== undefined);
    await sessions.peers[0]?.notify('said', { text: 'x' })
    expect(await newest.message()).toMatchObject(said('x'))
    expect(former.events.map(({ data }) => data)).toEqual([''])
    newest.drop()
  })

  it('resumes behind the event that the client names, without repeating or crossing streams', async () => {
    const { url, sessions } = await gateway({ plainMs: 10 })
    const session = await RawSession.open(url)
    const [one, two] = [
      await session.stream('wait', { name: 'one' }, 'one'),
      await session.stream('wait', { name: 'two' }, 'two'),
    ]
    const peer = sessions.peers[0]
    await peer?.notify('said', { text: '1' }, { relatedTo: 'one' })
    await peer?.notify('said', { text: '2' }, { relatedTo: 'one' })
    await peer?.notify('said', { text: 'other' }, { relatedTo: 'two' })
    await one.next()
    const seen = await one.next()
    one.drop()
    await expect.poll(() => sessions.transports[0]?.inFlight).toBe(2)
    sessions.release('one', { finished: true })
    const resumed = await session.listen(seen?.id)
    expect(await resumed.message()).toMatchObject(said('2'))
    expect(await resumed.message()).toMatchObject({ id: 'one', result: { finished: true } })
    let last: string | undefined
    for (let event = await resumed.next(); event !== undefined; event = await resumed.next()) last = event.id
    expect(last).toBeUndefined()
    const finished = await session.listen(resumed.events.at(-1)?.id)
    expect(finished.response.statusCode).toBe(204)
    sessions.release('two')
    expect(await two.message()).toMatchObject(said('other'))
  })

  it.each(['', 'x', '0-99', '7-1', '-1-1', '1e3-1', '0-1-2'])('refuses the event id %j', async (id) => {
    const { url } = await gateway()
    const session = await RawSession.open(url)
    expect((await session.listen(id)).response.statusCode).toBe(400)
  })

  it('holds a bounded backlog for a client that does not read, and keeps the session', async () => {
    const { url, sessions } = await gateway({ backlogBytes: 64 * 1024, replayBytes: 64 * 1024 })
    const session = await RawSession.open(url)
    const response = await start(url, { method: 'GET', headers: session.headers })
    response.pause()
    const text = 'x'.repeat(32 * 1024)
    const peer = sessions.peers[0]
    for (let sent = 0; sent < 2000; sent += 1) await peer?.notify('said', { text: `${sent} ${text}` })
    const stream = new RawStream(response)
    while ((await stream.next()) !== undefined);
    expect(stream.events.length).toBeLessThan(2000)
    expect((await session.request('echo', { alive: true })).json()).toMatchObject({ result: { alive: true } })
    const again = await session.listen(stream.events.at(-1)?.id)
    const rest = await again.message()
    expect(String((rest.params as JsonObject).text)).toMatch(/^199\d x/)
    again.drop()
  })
})

it('keeps two sessions with equal ids apart', async () => {
  const { url, sessions } = await gateway({ plainMs: 10 })
  const [ann, bob] = [await RawSession.open(url), await RawSession.open(url)]
  const [first, second] = [
    await openStream(url, {
      headers: ann.headers,
      body: '{"jsonrpc":"2.0","id":1,"method":"wait","params":{"name":"ann"}}',
    }),
    await openStream(url, {
      headers: bob.headers,
      body: '{"jsonrpc":"2.0","id":1,"method":"wait","params":{"name":"bob"}}',
    }),
  ]
  await bob.notify('notifications/cancelled', { requestId: 1 })
  while ((await second.next()) !== undefined);
  expect(sessions.cancelled).toEqual(['bob'])
  await sessions.peers[0]?.notify('said', { text: 'to ann' }, { relatedTo: 1 })
  sessions.release('ann', { for: 'ann' })
  expect(await first.message()).toMatchObject({ params: { text: 'to ann' } })
  expect(await first.message()).toEqual({ jsonrpc: '2.0', id: 1, result: { for: 'ann' } })
})
