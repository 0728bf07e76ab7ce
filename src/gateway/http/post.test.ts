import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { RawSession, send, start } from '../../../test/e2e/gateway/raw-http.js'
import { gateway, initialize } from '../../../test/fixtures/gateway/http-sessions.js'
import type { JsonObject } from '../../protocol/index.js'

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
