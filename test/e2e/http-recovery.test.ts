import { describe, expect, it } from 'vitest'
import { listen } from '../fixtures/http/listen.js'
import { ManualTimers } from '../fixtures/http/manual-timers.js'
import { failure } from '../fixtures/http/plain.js'
import { closedPort } from '../fixtures/http/raw-server.js'
import { startServer, type Turn } from '../fixtures/http/server.js'
import { openSession } from '../fixtures/http/session.js'

describe('retries', () => {
  it.each(['initialize', 'tools/list'])('bring %s through passing trouble', async (method) => {
    const timers = new ManualTimers()
    await using server = await startServer()
    server.on(method, ({ earlier, text, result }) => (earlier < 2 ? text(503) : result({ tools: [] })))
    await using session = await openSession(server.url, { timers })
    const answer = session.peer.request(method, {})
    for (const pause of [250, 1000]) {
      await timers.waitingFor(pause)
      timers.advance(pause)
    }
    expect(await answer).toEqual({ tools: [] })
  })

  it('send tools/list again after a cut connection, and tools/call never', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({
      'tools/list': ({ earlier, cut, result }) => (earlier === 0 ? cut() : result({ tools: [] })),
      'tools/call': ({ cut }) => cut(),
    })
    await using session = await openSession(server.url, { timers })
    const listing = session.peer.request('tools/list')
    await timers.waitingFor(250)
    timers.advance(250)
    expect(await listing).toEqual({ tools: [] })
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'transport_closed',
      sent: true,
    })
    expect(server.rpcs()).toEqual(['tools/list', 'tools/list', 'tools/call'])
  })

  it('send a call again that certainly did not arrive', async () => {
    const timers = new ManualTimers()
    const port = await closedPort()
    await using session = await openSession(`http://127.0.0.1:${port}/mcp`, { timers })
    const answer = session.peer.request('tools/call', { n: 1 })
    await timers.waitingFor(250)
    await using server = await startServer({}, { port })
    timers.advance(250)
    expect(await answer).toEqual({ content: [{ type: 'text', text: '{"n":1}' }] })
    expect(server.rpcs()).toEqual(['tools/call'])
  })

  it('end with the caller, and the server hears nothing more', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({ 'tools/list': ({ text }) => text(503) })
    await using session = await openSession(server.url, { timers })
    const abort = new AbortController()
    const failing = failure(session.peer.request('tools/list', {}, { signal: abort.signal }))
    await timers.waitingFor(250)
    abort.abort()
    expect(await failing).toMatchObject({ code: 'cancelled' })
    timers.advance(10_000)
    expect(await session.peer.request('ping')).toEqual({})
    expect(server.rpcs()).toEqual(['tools/list', 'notifications/cancelled', 'ping'])
  })
})

describe('a lost session', () => {
  it.each([
    ['404', ({ text }: Turn) => text(404, 'Session not found')],
    ['404 with a JSON-RPC error', ({ error }: Turn) => error(-32001, 'Session not found', 404, null)],
    [
      'the 400 of old examples',
      ({ error }: Turn) => error(-32000, 'Bad Request: No valid session ID provided', 400, null),
    ],
    ['the 400 of a fresh server', ({ error }: Turn) => error(-32000, 'Bad Request: Server not initialized', 400, null)],
  ])('is told by %s, and nothing is sent under it any more', async (_what, route) => {
    await using server = await startServer({ 'tools/call': route }, { session: 's1' })
    const session = await openSession(server.url)
    await session.initialize()
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'session_expired' })
    expect(await failure(session.peer.request('ping'))).toMatchObject({ code: 'session_expired' })
    await session.peer.close()
    expect(server.rpcs()).not.toContain('ping')
    expect(server.of('DELETE')).toEqual([])
    await session.http.close()
  })

  it('is survived by a handshake on the same transport', async () => {
    await using server = await startServer(
      { 'tools/call': ({ earlier, text, result }) => (earlier === 0 ? text(404) : result({ content: [] })) },
      { session: 's1' },
    )
    await using session = await openSession(server.url)
    await session.initialize()
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'session_expired' })
    await session.initialize()
    expect(await session.peer.request('tools/call', {})).toEqual({ content: [] })
    await expect.poll(() => server.of('GET').length).toBe(2)
    expect(
      server.received.filter(({ rpc }) => rpc === 'initialize').map(({ headers }) => headers['mcp-session-id']),
    ).toEqual([undefined, undefined])
  })

  it('is not seen in a 404 without one', async () => {
    await using server = await startServer({ 'tools/call': ({ text }) => text(404, 'nothing here') })
    await using session = await openSession(server.url)
    await session.initialize()
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'http_status', status: 404 })
  })
})

describe('the end of a session', () => {
  it.each([405, 404, 204])('is quiet when the server answers %s', async (status) => {
    await using server = await startServer({ DELETE: ({ text }) => text(status) }, { session: 's1' })
    const session = await openSession(server.url)
    await session.initialize()
    await session.peer.close()
    expect(session.warnings).toEqual([])
    await session.http.close()
  })

  it('waits three seconds for a server that does not answer, and closes once', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({ DELETE: () => {} }, { session: 's1' })
    const session = await openSession(server.url, { timers })
    await session.initialize()
    const closing = Promise.all([session.peer.close(), session.peer.close()])
    await timers.waitingFor(3000)
    timers.advance(3000)
    await closing
    expect(session.closed).toEqual([{}])
    expect(session.warnings).toMatchObject([{ code: 'timeout' }])
    await session.http.close()
  })
})

describe('a redirect', () => {
  it.each([307, 308])('HTTP %s within the origin keeps method, body and headers', async (status) => {
    await using front = await listen((request, response) => {
      if (request.url === '/mcp') response.writeHead(status, { Location: '/moved?x=1' }).end('moved')
      else
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(
          JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            result: { method: request.method, key: request.headers['x-key'] },
          }),
        )
    })
    await using session = await openSession(`${front.origin}/mcp`, { server: { httpHeaders: { 'X-Key': 'k' } } })
    expect(await session.peer.request('tools/call', {})).toEqual({ method: 'POST', key: 'k' })
    expect(front.seen).toEqual(['POST /mcp', 'POST /moved?x=1'])
  })

  it('to another origin is refused, naming only that', async () => {
    await using target = await startServer()
    await using server = await startServer({
      POST: ({ text }) => text(307, '', { Location: `http://user:pw@localhost:${target.port}/steal?token=secret` }),
    })
    await using session = await openSession(server.url, { server: { httpHeaders: { Authorization: 'Bearer t' } } })
    const error = await failure(session.peer.request('tools/call', {}))
    expect(error).toMatchObject({ code: 'redirect_refused', place: server.origin })
    expect(error.message).toContain(`http://localhost:${target.port} `)
    expect(JSON.stringify(error)).not.toMatch(/secret|pw|steal/)
    expect(target.received).toEqual([])
  })

  it.each([
    ['that loses the method', 301, '/x'],
    ['that asks for a GET', 303, '/x'],
    ['to nowhere', 307, 'http://'],
    ['without end', 308, '/mcp'],
  ])('%s is refused', async (_what, status, location) => {
    await using server = await startServer({ POST: ({ text }) => text(status, '', { Location: location }) })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'redirect_refused' })
    expect(server.received.length).toBe(location === '/mcp' ? 6 : 1)
  })

  it('is refused altogether when the policy says so', async () => {
    await using server = await startServer({ POST: ({ text }) => text(307, '', { Location: '/mcp2' }) })
    await using session = await openSession(server.url, { redirects: 'stop' })
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'redirect_refused' })
    expect(server.received).toHaveLength(1)
  })
})

describe('cancellation', () => {
  it('ends exactly that exchange', async () => {
    const closed: unknown[] = []
    let release = () => {}
    await using server = await startServer({
      'tools/call': ({ message, response, result }) => {
        response.on('close', () => {
          if (!response.writableEnded) closed.push(message.params?.n)
        })
        if (message.params?.n === 2) release = () => result({ content: [] })
      },
    })
    await using session = await openSession(server.url)
    const abort = new AbortController()
    const first = failure(session.peer.request('tools/call', { n: 1 }, { signal: abort.signal }))
    const second = session.peer.request('tools/call', { n: 2 })
    await expect.poll(() => server.rpcs().length).toBe(2)
    abort.abort()
    expect(await first).toMatchObject({ code: 'cancelled' })
    await expect.poll(() => closed).toEqual([1])
    release()
    expect(await second).toEqual({ content: [] })
  })
})

describe('a configuration that cannot work', () => {
  it.each([
    ['no URL', 'nonsense', 'invalid_url'],
    ['another scheme', 'ftp://a.test/', 'invalid_url'],
    ['credentials in the URL', 'http://user:hunter2@a.test/', 'invalid_url'],
  ])('is refused before any contact: %s', async (_what, url, code) => {
    const error = await failure(openSession(url))
    expect(error).toMatchObject({ code, place: 'test url' })
    expect(error.message).not.toContain('hunter2')
  })
})
