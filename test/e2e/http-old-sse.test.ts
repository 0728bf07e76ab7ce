import { describe, expect, it } from 'vitest'
import { ManualTimers } from '../fixtures/http/manual-timers.js'
import { failure } from '../fixtures/http/plain.js'
import { type Route, startServer, type Turn } from '../fixtures/http/server.js'
import { openSession } from '../fixtures/http/session.js'

/** A server of the 2024-11-05 transport: one stream out, POSTs in. */
async function startOldServer(routes: Record<string, Route> = {}, endpoint = '/messages?sessionId=1') {
  let stream: Turn | undefined
  const server = await startServer({
    GET: (turn) => {
      turn.stream()
      turn.event(endpoint, { event: 'endpoint' })
      stream = turn
    },
    POST: (turn) => {
      if (turn.request.url === '/mcp') return turn.text(404, 'Cannot POST /mcp')
      const route = routes[turn.message.method ?? 'response']
      if (route !== undefined) return route(turn)
      turn.text(202, 'Accepted')
      if (turn.message.id !== undefined && turn.message.method !== undefined) {
        stream?.event(
          { jsonrpc: '2.0', id: turn.message.id, result: { asked: turn.message.method } },
          { event: 'message' },
        )
      }
    },
    ...Object.fromEntries(Object.entries(routes).filter(([name]) => name === 'GET' || name === 'POST')),
  })
  return Object.assign(server, { say: (message: unknown) => stream?.event(message), hangUp: () => stream?.cut() })
}

describe('a server of the old transport', () => {
  it('is found out when it does not know initialize by POST', async () => {
    await using server = await startOldServer()
    await using session = await openSession(server.url, { server: { httpHeaders: { 'X-Key': 'k' } } })
    expect(await session.initialize()).toEqual({ asked: 'initialize' })
    expect(await session.peer.request('tools/list')).toEqual({ asked: 'tools/list' })
    expect(server.received.map(({ http, rpc, path }) => `${http} ${rpc ?? ''} ${path}`)).toEqual([
      'POST initialize /mcp',
      'GET  /mcp',
      'POST initialize /messages?sessionId=1',
      'POST notifications/initialized /messages?sessionId=1',
      'POST tools/list /messages?sessionId=1',
    ])
    expect(server.received.every(({ headers }) => headers['x-key'] === 'k')).toBe(true)
    expect([session.warnings, session.closed]).toEqual([[], []])
  })

  it('is spoken to at once when the configuration says so', async () => {
    await using server = await startOldServer()
    await using session = await openSession(server.url, { server: { type: 'sse' } })
    await session.initialize()
    expect(server.received.map(({ http }) => http)).toEqual(['GET', 'POST', 'POST'])
    server.say({ jsonrpc: '2.0', method: 'notifications/x' })
    server.say({ jsonrpc: '2.0', id: 'q1', method: 'roots/list' })
    await expect.poll(() => server.received.at(-1)).toMatchObject({ id: 'q1', rpc: undefined })
    expect(session.notifications).toEqual([{ method: 'notifications/x', params: undefined, on: {} }])
  })

  it('that hangs up ends the transport, once, and with it what waits', async () => {
    await using server = await startOldServer({ 'tools/call': ({ text }) => text(202) })
    await using session = await openSession(server.url, { server: { type: 'sse' } })
    await session.initialize()
    const failing = failure(session.peer.request('tools/call', {}))
    await expect.poll(() => server.rpcs().at(-1)).toBe('tools/call')
    server.hangUp()
    expect(await failing).toMatchObject({ code: 'transport_closed', sent: true })
    await session.peer.close()
    expect(session.closed).toMatchObject([{ error: { code: 'transport_closed', place: server.url } }])
  })

  it('is closed by closing the stream', async () => {
    let closed = false
    await using server = await startOldServer({
      GET: (turn) => {
        turn.stream()
        turn.event('/messages', { event: 'endpoint' })
        turn.response.on('close', () => {
          closed = true
        })
      },
    })
    const session = await openSession(server.url, { server: { type: 'sse' } })
    await session.peer.close()
    await expect.poll(() => closed).toBe(true)
    expect(session.closed).toEqual([{}])
    await session.http.close()
  })

  it.each([
    ['that refuses a call with a JSON-RPC error', ({ error }: Turn) => error(-32602, 'no', 400), { code: 'rpc_error' }],
    ['that refuses a call', ({ text }: Turn) => text(500, 'oops'), { code: 'http_status', status: 500 }],
    ['that lost the session', ({ text }: Turn) => text(404), { code: 'session_expired' }],
  ])('%s is heard', async (_what, route, expected) => {
    await using server = await startOldServer({ 'tools/call': route })
    await using session = await openSession(server.url, { server: { type: 'sse' } })
    await session.initialize()
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject(expected)
  })

  it('may not send us to another origin', async () => {
    await using server = await startOldServer({}, 'http://other.test/messages?token=secret')
    const error = await failure(openSession(server.url, { server: { type: 'sse' } }))
    expect(error).toMatchObject({ code: 'redirect_refused', place: server.url })
    expect(error.message).toContain('http://other.test ')
    expect(error.message).not.toContain('secret')
  })

  it.each([
    ['names no endpoint', politeClose, 'protocol_violation'],
    ['names nonsense', nonsense, 'protocol_violation'],
    ['answers a page', ({ text }: Turn) => text(200, '<p>', { 'Content-Type': 'text/html' }), 'http_status'],
    ['wants a login', ({ text }: Turn) => text(401, '', { 'WWW-Authenticate': 'Bearer' }), 'auth_required'],
    ['answers 404', ({ text }: Turn) => text(404), 'http_status'],
  ])('that %s does not start', async (_what, route, code) => {
    await using server = await startOldServer({ GET: route })
    expect(await failure(openSession(server.url, { server: { type: 'sse' } }))).toMatchObject({ code })
  })

  it('that stays silent is given up after thirty seconds', async () => {
    const timers = new ManualTimers()
    await using server = await startOldServer({ GET: ({ stream }) => stream() })
    const failing = failure(openSession(server.url, { server: { type: 'sse' }, timers }))
    await expect.poll(() => server.of('GET').length).toBe(1)
    await timers.waitingFor(30_000)
    timers.advance(30_000)
    expect(await failing).toMatchObject({ code: 'timeout' })
  })

  it('is reached through passing trouble', async () => {
    const timers = new ManualTimers()
    await using server = await startOldServer({
      GET: (turn) => {
        if (turn.earlier === 0) return turn.text(503)
        turn.stream()
        turn.event('/messages', { event: 'endpoint' })
      },
    })
    const opening = openSession(server.url, { server: { type: 'sse' }, timers })
    await timers.waitingFor(250)
    timers.advance(250)
    await (await opening).peer.close()
  })
})

describe('a server that refuses initialize', () => {
  it.each([400, 404, 405, 410, 415])(
    'with HTTP %s and has no old transport either is told by its first answer',
    async (status) => {
      await using server = await startServer({ initialize: ({ text }) => text(status, 'go away') })
      await using session = await openSession(server.url)
      expect(await failure(session.initialize())).toMatchObject({
        code: 'http_status',
        status,
        message: `HTTP ${status}: go away`,
      })
      expect(server.received.map(({ http }) => http)).toEqual(['POST', 'GET'])
      expect(session.closed).toEqual([])
      await session.peer.close()
      expect(session.closed).toEqual([{}])
    },
  )

  it.each([
    ['401', ({ text }: Turn) => text(401, 'no')],
    ['403', ({ text }: Turn) => text(403, 'no')],
    ['501', ({ text }: Turn) => text(501, 'no')],
    ['a page', ({ text }: Turn) => text(200, 'no', { 'Content-Type': 'text/html' })],
    ['a JSON-RPC error', ({ error }: Turn) => error(-32602, 'unsupported version', 400)],
  ])('with %s is not asked for the old transport', async (_what, route) => {
    await using server = await startServer({ initialize: route })
    await using session = await openSession(server.url)
    await failure(session.initialize())
    expect(server.received.map(({ http }) => http)).toEqual(['POST'])
  })

  it('and wants a login for the stream is told so', async () => {
    await using server = await startServer({
      initialize: ({ text }) => text(405),
      GET: ({ text }) => text(401, '', { 'WWW-Authenticate': 'Bearer' }),
    })
    await using session = await openSession(server.url)
    expect(await failure(session.initialize())).toMatchObject({ code: 'auth_required' })
  })

  it('and opens a stream without an endpoint is given five seconds for it', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({ initialize: ({ text }) => text(400, 'no'), GET: ({ stream }) => stream() })
    await using session = await openSession(server.url, { timers })
    const failing = failure(session.initialize())
    await expect.poll(() => server.of('GET').length).toBe(1)
    await timers.waitingFor(5000)
    timers.advance(5000)
    expect(await failing).toMatchObject({ code: 'http_status', status: 400 })
  })

  it('is left alone when the caller gives up meanwhile', async () => {
    await using server = await startServer({ initialize: ({ text }) => text(400, 'no'), GET: ({ stream }) => stream() })
    await using session = await openSession(server.url)
    const abort = new AbortController()
    const failing = failure(session.peer.request('initialize', {}, { signal: abort.signal }))
    await expect.poll(() => server.of('GET').length).toBe(1)
    abort.abort()
    expect(await failing).toMatchObject({ code: 'cancelled' })
    await session.peer.close()
    expect(session.closed).toHaveLength(1)
  })
})

function nonsense(turn: Turn): void {
  turn.stream()
  turn.event('http://', { event: 'endpoint' })
}

function politeClose(turn: Turn): void {
  turn.stream()
  turn.response.end()
}
