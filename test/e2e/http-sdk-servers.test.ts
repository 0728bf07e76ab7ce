import { describe, expect, it } from 'vitest'
import { failure } from '../fixtures/http/plain.js'
import { startSdkV1Server, startSdkV1SseServer } from '../fixtures/http/sdk-v1-server.js'
import { type SdkServer, type SdkServerOptions, startSdkV2Server } from '../fixtures/http/sdk-v2-server.js'
import { openSession, type Session } from '../fixtures/http/session.js'

const call = (session: Session, name: string, args = {}) =>
  session.peer.request('tools/call', { name, arguments: args })
const text = (value: string) => ({ content: [{ type: 'text', text: value }] })

type Start = (options?: SdkServerOptions) => Promise<SdkServer>

describe.each<[string, Start]>([
  ['SDK v2', startSdkV2Server],
  ['SDK v1', startSdkV1Server],
])('a server on %s', (_sdk, start) => {
  it.each([
    ['stateful, streams', { stateful: true }],
    ['stateful, JSON', { stateful: true, json: true }],
    ['stateless, streams', { stateful: false }],
    ['stateless, JSON', { stateful: false, json: true }],
    ['resumable', { resumable: 100 }],
  ])('answers (%s)', async (_kind, options) => {
    await using server = await start(options)
    await using session = await openSession(server.url)
    await session.initialize()
    expect(await session.peer.request('tools/list')).toMatchObject({ tools: [{ name: 'echo' }, {}, {}, {}] })
    const calls = Array.from({ length: 50 }, (_, n) => call(session, 'echo', { n }))
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => text(`{"n":${n}}`)))
    expect(await failure(session.peer.request('no/such'))).toMatchObject({ code: 'rpc_error', rpcCode: -32601 })
    expect(session.warnings).toEqual([])
  })

  it('logs within the call that caused it, and asks within it too', async () => {
    await using server = await start()
    await using session = await openSession(server.url, { answer: async () => ({ action: 'accept', content: {} }) })
    await session.peer.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'test', version: '1' },
    })
    await session.peer.notify('notifications/initialized')
    expect(await call(session, 'log')).toEqual(text('{}'))
    expect(session.notifications).toMatchObject([{ method: 'notifications/message', on: { relatedTo: 2 } }])
    expect(await call(session, 'ask')).toEqual(text('{"action":"accept","content":{}}'))
    expect(session.requests).toEqual([{ method: 'elicitation/create', on: { relatedTo: 3 } }])
  })

  it('is heard on its own stream, and told when the session ends', async () => {
    await using server = await start()
    const session = await openSession(server.url)
    await session.initialize()
    await expect.poll(() => server.seen.filter((one) => one.startsWith('GET')).length).toBe(1)
    // The SDK drops what it has to say while the stream is not open yet.
    await expect
      .poll(async () => {
        await server.notify()
        return session.notifications.length
      })
      .toBeGreaterThan(0)
    expect(session.notifications[0]).toEqual({ method: 'notifications/tools/list_changed', params: undefined, on: {} })
    expect(server.sessions()).toBe(1)
    await session.peer.close()
    expect(server.sessions()).toBe(0)
    expect(session.warnings).toEqual([])
    await session.http.close()
  })

  it('that closes the stream of a call is asked for the rest', async () => {
    await using server = await start({ resumable: 100 })
    await using session = await openSession(server.url)
    // Priming events, which make a stream resumable from its start, came with this revision.
    await session.peer.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    })
    session.transport.protocolVersion?.('2025-11-25')
    await session.peer.notify('notifications/initialized')
    expect(await call(session, 'poll', { n: 1 })).toEqual(text('{"n":1}'))
    expect(server.seen.filter((one) => one.startsWith('GET'))).toHaveLength(2)
  })

  it('that was started again does not know the session, and takes a new one', async () => {
    const first = await start()
    await using session = await openSession(first.url)
    await session.initialize()
    await first.close()
    await using second = await start({ port: first.port })
    expect(await failure(call(session, 'echo'))).toMatchObject({ code: 'session_expired' })
    expect(second.seen.filter((one) => one.startsWith('POST'))).toHaveLength(1)
    await session.initialize()
    expect(await call(session, 'echo', { n: 2 })).toEqual(text('{"n":2}'))
  })
})

describe('a server on SDK v1 over HTTP+SSE', () => {
  it.each([
    ['found out', {}],
    ['configured', { server: { type: 'sse' as const } }],
  ])('answers (%s)', async (_how, options) => {
    await using server = await startSdkV1SseServer()
    await using session = await openSession(server.url, options)
    await session.initialize()
    const calls = Array.from({ length: 20 }, (_, n) => call(session, 'echo', { n }))
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => text(`{"n":${n}}`)))
    await server.notify()
    await expect.poll(() => session.notifications.length).toBe(1)
    expect(session.warnings).toEqual([])
  })

  it('asks over the stream', async () => {
    await using server = await startSdkV1SseServer()
    await using session = await openSession(server.url, { answer: async () => ({ action: 'decline' }) })
    await session.peer.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'test', version: '1' },
    })
    await session.peer.notify('notifications/initialized')
    expect(await call(session, 'ask')).toEqual(text('{"action":"decline"}'))
  })

  it('ends the transport when it goes away', async () => {
    const server = await startSdkV1SseServer()
    await using session = await openSession(server.url)
    await session.initialize()
    await server.close()
    await expect.poll(() => session.closed).toMatchObject([{ error: { code: 'transport_closed' } }])
  })
})
