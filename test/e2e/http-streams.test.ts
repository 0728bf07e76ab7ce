import { describe, expect, it } from 'vitest'
import { ManualTimers } from '../fixtures/http/manual-timers.js'
import { type Route, startServer, type Turn } from '../fixtures/http/server.js'
import { failure, openSession } from '../fixtures/http/session.js'

const answer = (turn: Turn, result: Record<string, unknown> = { content: [] }) => ({
  jsonrpc: '2.0',
  id: turn.message.id,
  result,
})
const log = (data: string) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } })

describe('an answer as a stream', () => {
  it('delivers what comes before it, with the request that it came for', async () => {
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turn.event('', { id: 'prime' })
        turn.event('{"not":"for us"}', { event: 'ping' })
        turn.event(log('one'), { event: 'message' })
        turn.event({ jsonrpc: '2.0', id: 'q1', method: 'elicitation/create', params: {} })
        turn.event(answer(turn))
        turn.response.end()
      },
    })
    await using session = await openSession(server.url)
    await session.peer.request('ping')
    expect(await session.peer.request('tools/call', {})).toEqual({ content: [] })
    expect(session.notifications).toMatchObject([{ params: { data: 'one' }, on: { relatedTo: 2 } }])
    expect(session.requests).toEqual([{ method: 'elicitation/create', on: { relatedTo: 2 } }])
    // Our answer goes back in a POST of its own.
    await expect.poll(() => server.received.at(-1)).toMatchObject({ http: 'POST', id: 'q1', rpc: undefined })
    expect(session.warnings).toEqual([])
  })

  it('keeps two calls apart', async () => {
    const turns: Turn[] = []
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turns.push(turn)
      },
    })
    await using session = await openSession(server.url)
    const calls = [session.peer.request('tools/call', { n: 0 }), session.peer.request('tools/call', { n: 1 })]
    await expect.poll(() => turns.length).toBe(2)
    for (const turn of [...turns].reverse()) {
      turn.event(log(`from ${turn.message.params?.n}`))
      turn.event(answer(turn, { n: turn.message.params?.n }))
      turn.response.end()
    }
    expect(await Promise.all(calls)).toEqual([{ n: 0 }, { n: 1 }])
    expect(session.notifications.map(({ params, on }) => [params?.data, on.relatedTo]).sort()).toEqual([
      ['from 0', 1],
      ['from 1', 2],
    ])
  })

  it('is there as soon as it came, even if the stream stays open, which then is closed', async () => {
    const timers = new ManualTimers()
    let closed = false
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turn.event(answer(turn))
        turn.response.on('close', () => {
          closed = true
        })
      },
    })
    await using session = await openSession(server.url, { timers })
    expect(await session.peer.request('tools/call', {})).toEqual({ content: [] })
    expect(closed).toBe(false)
    await timers.waitingFor(2000)
    timers.advance(2000)
    await expect.poll(() => closed).toBe(true)
  })

  it('survives events that are no messages', async () => {
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turn.event('not json')
        turn.event({ hello: 'world' })
        turn.event(answer(turn))
        turn.response.end()
      },
    })
    await using session = await openSession(server.url)
    expect(await session.peer.request('tools/call', {})).toEqual({ content: [] })
    expect(session.warnings).toMatchObject([{ code: 'protocol_violation' }, { code: 'protocol_violation' }])
  })

  it('that is malformed itself fails the request at once', async () => {
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turn.event({ jsonrpc: '2.0', id: turn.message.id, result: 'a string' })
      },
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'protocol_violation' })
  })

  it('with an event over the limit fails that request and no other', async () => {
    const others: Turn[] = []
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        if (turn.message.params?.n === 2) {
          others.push(turn)
          return
        }
        const more = () => {
          while (!turn.response.destroyed && turn.response.write('x'.repeat(65_536)));
        }
        turn.response.write('data: ')
        turn.response.on('drain', more)
        more()
      },
    })
    await using session = await openSession(server.url)
    const other = session.peer.request('tools/call', { n: 2 })
    expect(await failure(session.peer.request('tools/call', { n: 1 }))).toMatchObject({
      code: 'limit_exceeded',
      place: server.url,
    })
    const [turn] = others
    turn?.event(turn && answer(turn))
    turn?.response.end()
    expect(await other).toEqual({ content: [] })
  })
})

describe('an answer stream that ends too early', () => {
  it.each([
    ['politely', ({ response }: Turn) => void response.end()],
    ['by a cut', ({ cut }: Turn) => cut()],
  ])('%s fails the request at once when it gave no event ids', async (_how, end) => {
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turn.response.write(`data: ${JSON.stringify(log('x'))}\n\n`, () => void end(turn))
      },
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'transport_closed',
      sent: true,
      place: server.url,
    })
    expect(session.notifications).toHaveLength(1)
    expect(server.of('GET')).toEqual([])
  })

  it('is taken up again behind its last event, after the pause that the server asked for', async () => {
    const timers = new ManualTimers()
    await using server = await startServer(
      {
        'tools/call': (turn) => {
          turn.stream()
          turn.event('', { id: 'e1', retry: 750 })
          turn.event(log('before'), { id: 'e2' })
          turn.response.end()
        },
        GET: (turn) => {
          turn.stream()
          turn.event(log('after'), { id: 'e3' })
          turn.event({ jsonrpc: '2.0', id: 2, result: { resumed: true } })
          turn.response.end()
        },
      },
      { session: 's1' },
    )
    await using session = await openSession(server.url, { timers })
    await session.peer.request('initialize', {})
    const call = session.peer.request('tools/call', {})
    await timers.waitingFor(750)
    timers.advance(750)
    expect(await call).toEqual({ resumed: true })
    expect(server.of('GET')).toMatchObject([
      { headers: { 'last-event-id': 'e2', 'mcp-session-id': 's1', accept: 'text/event-stream' } },
    ])
    expect(session.notifications.map(({ params, on }) => [params?.data, on])).toEqual([
      ['before', { relatedTo: 2 }],
      ['after', { relatedTo: 2 }],
    ])
  })

  it('is not asked for for ever: six fruitless attempts, then the request fails', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turn.event('', { id: 'e1' })
        turn.response.end()
      },
      GET: ({ earlier, text, stream, response }) => {
        if (earlier % 2 === 0) return text(503)
        stream()
        response.end()
      },
    })
    await using session = await openSession(server.url, { timers })
    const failing = failure(session.peer.request('tools/call', {}))
    const pauses = [500, 1000, 2000, 4000, 8000, 16_000]
    for (const pause of pauses) {
      await timers.waitingFor(pause)
      timers.advance(pause)
    }
    expect(await failing).toMatchObject({ code: 'transport_closed', sent: true })
    expect(server.of('GET')).toHaveLength(pauses.length)
    timers.advance(3_600_000)
    expect(await session.peer.request('ping')).toEqual({})
    expect(server.of('GET')).toHaveLength(pauses.length)
  })

  it.each([404, 405, 401])(
    'is lost when the server refuses to go on with HTTP %s: a call is not sent twice',
    async (status) => {
      const timers = new ManualTimers()
      await using server = await startServer(
        {
          'tools/call': (turn) => {
            turn.stream()
            turn.event('', { id: 'e1' })
            turn.response.end()
          },
          GET: ({ text }) => text(status, 'no', { 'WWW-Authenticate': 'Bearer' }),
        },
        { session: 's1' },
      )
      await using session = await openSession(server.url, { timers })
      await session.peer.request('initialize', {})
      const failing = failure(session.peer.request('tools/call', {}))
      await timers.waitingFor(500)
      timers.advance(500)
      expect(await failing).toMatchObject({ code: 'transport_closed', sent: true })
    },
  )

  it('is left alone once the caller has given up', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turn.event('', { id: 'e1' })
        turn.response.end()
      },
    })
    await using session = await openSession(server.url, { timers })
    const abort = new AbortController()
    const failing = failure(session.peer.request('tools/call', {}, { signal: abort.signal }))
    await timers.waitingFor(500)
    abort.abort()
    expect(await failing).toMatchObject({ code: 'cancelled' })
    timers.advance(3_600_000)
    expect(await session.peer.request('ping')).toEqual({})
    expect(server.of('GET')).toEqual([])
  })

  it('may be answered by the standalone stream meanwhile', async () => {
    const timers = new ManualTimers()
    let standalone: Turn | undefined
    await using server = await startServer({
      'tools/call': (turn) => {
        turn.stream()
        turn.event('', { id: 'e1' })
        turn.response.end()
      },
      GET: (turn) => {
        turn.stream()
        standalone = turn
      },
    })
    await using session = await openSession(server.url, { timers })
    await session.initialize()
    await expect.poll(() => standalone).toBeDefined()
    const call = session.peer.request('tools/call', {})
    await timers.waitingFor(500)
    standalone?.event({ jsonrpc: '2.0', id: 2, result: { late: true } })
    expect(await call).toEqual({ late: true })
    timers.advance(500)
    expect(await session.peer.request('ping')).toEqual({})
    expect(server.of('GET')).toHaveLength(1)
  })
})

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
