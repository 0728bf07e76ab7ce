import { describe, expect, it } from 'vitest'
import { ManualTimers } from '../fixtures/http/manual-timers.js'
import { type Route, startServer, type Turn } from '../fixtures/http/server.js'
import { openSession } from '../fixtures/http/session.js'

const log = (data: string) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } })

describe('the standalone stream', () => {
  const open: Route = (turn) => turn.stream()
  const politeClose: Route = (turn) => {
    turn.stream()
    turn.response.end()
  }
  const oneEvent: Route = (turn) => {
    turn.stream()
    turn.event(log('x'))
    turn.response.end()
  }

  it('opens after the handshake and brings what the server says of its own accord', async () => {
    const turns: Turn[] = []
    await using server = await startServer(
      {
        GET: (turn) => {
          turn.stream()
          turns.push(turn)
        },
      },
      { session: 's1' },
    )
    await using session = await openSession(server.url)
    await session.peer.request('ping')
    expect(server.of('GET')).toEqual([])
    await session.initialize()
    await expect.poll(() => turns.length).toBe(1)
    expect(server.of('GET')[0]?.headers).toMatchObject({
      accept: 'text/event-stream',
      'mcp-session-id': 's1',
      'mcp-protocol-version': '2025-06-18',
    })
    turns[0]?.event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    await expect.poll(() => session.notifications).toMatchObject([{ on: {} }])
    expect(session.notifications[0]?.on).toEqual({})
  })

  it('ends with the transport', async () => {
    let closed = false
    await using server = await startServer({
      GET: (turn) => {
        turn.stream()
        turn.response.on('close', () => {
          closed = true
        })
      },
    })
    const session = await openSession(server.url)
    await session.initialize()
    await expect.poll(() => server.of('GET').length).toBe(1)
    await session.peer.close()
    await expect.poll(() => closed).toBe(true)
    await session.http.close()
  })

  it.each([405, 404])('is not missed when the server answers %s', async (status) => {
    const timers = new ManualTimers()
    await using server = await startServer({ GET: ({ text }) => text(status) }, { session: 's1' })
    await using session = await openSession(server.url, { timers })
    await session.initialize()
    await expect.poll(() => server.of('GET').length).toBe(1)
    expect(await session.peer.request('ping')).toEqual({})
    timers.advance(3_600_000)
    expect(await session.peer.request('ping')).toEqual({})
    expect(server.of('GET')).toHaveLength(1)
    expect(session.warnings).toEqual([])
  })

  it('is opened again behind its last event', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({
      GET: (turn) => {
        turn.stream()
        if (turn.earlier > 0) return
        turn.event({ jsonrpc: '2.0', method: 'notifications/x' }, { id: 'e7' })
        turn.response.end()
      },
    })
    await using session = await openSession(server.url, { timers })
    await session.initialize()
    await timers.waitingFor(1000)
    timers.advance(1000)
    await expect.poll(() => server.of('GET').map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e7'])
  })

  it.each([
    ['closes it politely', politeClose],
    ['answers 409', ({ text }: Turn) => text(409, 'another stream is open')],
    ['answers 500', ({ text }: Turn) => text(500, 'oops')],
    ['cuts it', ({ cut }: Turn) => cut()],
    ['sends one event each time', oneEvent],
  ])(
    'makes no storm when the server %s at once: nine attempts in four minutes, and they go on',
    async (_what, route) => {
      const timers = new ManualTimers()
      await using server = await startServer({ GET: route })
      await using session = await openSession(server.url, { timers })
      await session.initialize()
      const pauses = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]
      for (const pause of pauses) {
        await timers.waitingFor(pause)
        timers.advance(pause)
      }
      await timers.waitingFor(60_000)
      expect(server.of('GET')).toHaveLength(pauses.length + 1)
      expect(session.warnings.length).toBeLessThanOrEqual(1)
      expect(await session.peer.request('ping')).toEqual({})
    },
  )

  it('does not ask again for an event over the limit', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({
      GET: (turn) => {
        turn.stream()
        if (turn.earlier > 0) return
        turn.event({ jsonrpc: '2.0', method: 'notifications/x' }, { id: 'e1' })
        const more = () => {
          while (!turn.response.destroyed && turn.response.write('x'.repeat(65_536)));
        }
        turn.response.write('data: ')
        turn.response.on('drain', more)
        more()
      },
    })
    await using session = await openSession(server.url, { timers })
    await session.initialize()
    await timers.waitingFor(1000)
    expect(session.warnings).toMatchObject([{ code: 'limit_exceeded', place: server.url }])
    timers.advance(1000)
    await expect
      .poll(() => server.of('GET').map(({ headers }) => headers['last-event-id']))
      .toEqual([undefined, undefined])
  })

  it('starts over with short pauses after a stream that lived long', async () => {
    const timers = new ManualTimers()
    const turns: Turn[] = []
    await using server = await startServer({
      GET: (turn) => {
        turn.stream()
        turns.push(turn)
        if (turn.earlier < 3) turn.response.end()
      },
    })
    await using session = await openSession(server.url, { timers })
    await session.initialize()
    for (const pause of [1000, 2000, 4000]) {
      await timers.waitingFor(pause)
      timers.advance(pause)
    }
    await expect.poll(() => turns.length).toBe(4)
    // An event proves that the head of the stream has arrived too.
    turns[3]?.event({ jsonrpc: '2.0', method: 'notifications/x' })
    await expect.poll(() => session.notifications.length).toBe(1)
    timers.advance(125_000)
    turns[3]?.cut()
    await timers.waitingFor(1000)
    expect(session.warnings).toMatchObject([{ code: 'transport_closed' }])
  })

  it.each([
    [{ 'Retry-After': '90' }, 90_000],
    [{ 'Retry-After': '86400' }, 300_000],
  ])('waits as %j asks, within bounds', async (headers, expected) => {
    const timers = new ManualTimers()
    await using server = await startServer({ GET: ({ text }) => text(503, '', headers) })
    await using session = await openSession(server.url, { timers })
    await session.initialize()
    await timers.waitingFor(expected)
  })

  it.each([
    ['401', ({ text }: Turn) => text(401, '', { 'WWW-Authenticate': 'Bearer' })],
    ['a page', ({ text }: Turn) => text(200, '<html>', { 'Content-Type': 'text/html' })],
    ['a redirect elsewhere', ({ text }: Turn) => text(307, '', { Location: 'http://other.test/' })],
  ])('is given up with one warning when the server answers %s', async (_what, route) => {
    const timers = new ManualTimers()
    await using server = await startServer({ GET: route })
    await using session = await openSession(server.url, { timers })
    await session.initialize()
    await expect.poll(() => session.warnings.length).toBe(1)
    timers.advance(3_600_000)
    expect(await session.peer.request('ping')).toEqual({})
    expect(server.of('GET')).toHaveLength(1)
  })

  it('tells that the session is lost when it is not found any more', async () => {
    const timers = new ManualTimers()
    await using server = await startServer(
      {
        GET: (turn) => {
          if (turn.earlier > 0) return turn.text(404)
          turn.stream()
          turn.response.end()
        },
      },
      { session: 's1' },
    )
    await using session = await openSession(server.url, { timers })
    await session.initialize()
    await timers.waitingFor(1000)
    timers.advance(1000)
    await expect.poll(() => session.warnings).toMatchObject([{ code: 'session_expired' }])
  })

  it('carries an answer that was only accepted by POST', async () => {
    let standalone: Turn | undefined
    await using server = await startServer({
      GET: (turn) => {
        turn.stream()
        turn.event({ jsonrpc: '2.0', method: 'notifications/x' })
        standalone = turn
      },
      'tools/call': ({ text }) => text(202),
    })
    await using session = await openSession(server.url)
    await session.initialize()
    await expect.poll(() => session.notifications.length).toBe(1)
    const call = session.peer.request('tools/call', {})
    await expect.poll(() => server.rpcs().at(-1)).toBe('tools/call')
    standalone?.event({ jsonrpc: '2.0', id: 2, result: { by: 'the other stream' } })
    expect(await call).toEqual({ by: 'the other stream' })
  })

  it('does not hold up many calls at once', async () => {
    await using server = await startServer({ GET: open })
    await using session = await openSession(server.url)
    await session.initialize()
    const calls = Array.from({ length: 200 }, (_, n) => session.peer.request('tools/call', { n }))
    const texts = (await Promise.all(calls)).map((result) => JSON.stringify(result))
    expect(new Set(texts).size).toBe(200)
  })
})
