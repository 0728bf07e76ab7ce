import { describe, expect, it } from 'vitest'
import { ManualTimers } from '../fixtures/http/manual-timers.js'
import { failure } from '../fixtures/http/plain.js'
import { startServer, type Turn } from '../fixtures/http/server.js'
import { openSession } from '../fixtures/http/session.js'

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
