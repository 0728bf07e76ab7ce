import { describe, expect, it } from 'vitest'
import { ManualTimers } from '../fixtures/http/manual-timers.js'
import { failure } from '../fixtures/http/plain.js'
import { startServer } from '../fixtures/http/server.js'
import { openSession } from '../fixtures/http/session.js'

describe('a good server', () => {
  it('is spoken to as the specification says', async () => {
    await using server = await startServer({}, { session: 'session-1' })
    await using session = await openSession(server.url)
    await session.initialize()
    expect(await session.peer.request('tools/list')).toEqual({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
    })
    const [initialize, initialized] = server.received
    expect(initialize?.headers).toMatchObject({
      accept: 'text/event-stream, application/json',
      'content-type': 'application/json',
    })
    expect(initialize?.headers).not.toHaveProperty('mcp-session-id')
    expect(initialize?.headers).not.toHaveProperty('mcp-protocol-version')
    expect(initialized?.headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-06-18' })
    expect(session.warnings).toEqual([])
  })

  it('is told that the session is over', async () => {
    await using server = await startServer({}, { session: 'session-1' })
    const session = await openSession(server.url)
    await session.initialize()
    await session.peer.close()
    expect(server.of('DELETE').map(({ headers }) => headers['mcp-session-id'])).toEqual(['session-1'])
    expect(session.closed).toEqual([{}])
    expect(await failure(session.peer.request('ping'))).toMatchObject({ code: 'transport_closed', sent: false })
    await session.http.close()
  })
})

describe('an answer in JSON', () => {
  it('comes whole, with members that nobody knows', async () => {
    await using server = await startServer({
      'tools/call': ({ result }) => result({ content: [{ type: 'hologram', x: [1] }], _meta: { 'a/b': null }, odd: 1 }),
    })
    await using session = await openSession(server.url)
    expect(await session.peer.request('tools/call', { name: 'x' })).toEqual({
      content: [{ type: 'hologram', x: [1] }],
      _meta: { 'a/b': null },
      odd: 1,
    })
  })

  it('may be a batch: what is no answer is delivered with the request that it came for', async () => {
    await using server = await startServer({
      'tools/call': ({ json, message }) =>
        json([
          { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } },
          { jsonrpc: '2.0', id: message.id, result: { content: [] } },
        ]),
    })
    await using session = await openSession(server.url)
    expect(await session.peer.request('tools/call', {})).toEqual({ content: [] })
    expect(session.notifications).toEqual([
      { method: 'notifications/message', params: { level: 'info', data: 'x' }, on: { relatedTo: 1 } },
    ])
  })

  it('that answers something else fails the request at once', async () => {
    await using server = await startServer({
      'tools/call': ({ json }) => json({ jsonrpc: '2.0', id: 4711, result: {} }),
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'protocol_violation',
      place: server.url,
      message: expect.stringContaining('tools/call'),
    })
  })

  it.each([
    ['is no JSON', '{"jsonrpc":'],
    ['is nothing', ''],
    ['is no JSON-RPC', '{"ok":true}'],
    ['is one with an odd id', '{"jsonrpc":"2.0","id":{},"result":{}}'],
  ])('that %s fails the request at once', async (_what, body) => {
    await using server = await startServer({
      'tools/call': ({ text }) => text(200, body, { 'Content-Type': 'application/json' }),
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'protocol_violation',
      place: server.url,
    })
  })

  it('with an error and no id belongs to the request', async () => {
    await using server = await startServer({ 'tools/call': ({ error }) => error(-32001, 'no', 200, null) })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'rpc_error', rpcCode: -32001 })
  })

  it('is matched by its media type, not by a prefix', async () => {
    await using server = await startServer({
      ping: ({ text, message }) =>
        text(200, `{"jsonrpc":"2.0","id":${message.id},"result":{}}`, {
          'Content-Type': 'Application/JSON; charset=x',
        }),
      'tools/call': ({ text }) => text(200, '{}', { 'Content-Type': 'application/jsonp' }),
    })
    await using session = await openSession(server.url)
    expect(await session.peer.request('ping')).toEqual({})
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'http_status',
      message: "unexpected content type 'application/jsonp' (HTTP 200): {}",
    })
  })
})

describe('an answer that is not MCP', () => {
  it('in HTML is named with its type and beginning', async () => {
    await using server = await startServer({
      'tools/call': ({ text }) => text(200, '<html>Sign in</html>', { 'Content-Type': 'text/html; charset=utf-8' }),
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'http_status',
      status: 200,
      place: server.url,
      message: "unexpected content type 'text/html' (HTTP 200): <html>Sign in</html>",
    })
  })

  it('without a type says so', async () => {
    await using server = await startServer({ 'tools/call': ({ response }) => void response.end('x') })
    await using session = await openSession(server.url)
    expect((await failure(session.peer.request('tools/call', {}))).message).toContain("'missing-content-type'")
  })

  it('with a failure status is shown to its beginning, without what we sent', async () => {
    await using server = await startServer({
      'tools/call': ({ text, request }) =>
        text(500, `boom ${request.headers['x-tenant']} Bearer abcdefgh api_key=k ${'y'.repeat(20_000)}`),
    })
    await using session = await openSession(`${server.url}?key=topsecret`, {
      server: { httpHeaders: { 'X-Tenant': 'tenant-secret' } },
    })
    const error = await failure(session.peer.request('tools/call', {}))
    expect(error).toMatchObject({ code: 'http_status', status: 500, place: server.url })
    expect(error.message).toMatch(
      /^HTTP 500: boom \[redacted\] Bearer \[redacted\] api_key=\[redacted\] y+ \[truncated, at least \d+ bytes dropped\]$/,
    )
    expect(JSON.stringify(error)).not.toMatch(/topsecret|tenant-secret/)
  })

  it('that is compressed without being asked to is named', async () => {
    await using server = await startServer({
      ping: ({ json }) => json({}, 200, { 'Content-Encoding': 'gzip' }),
    })
    await using session = await openSession(server.url)
    expect((await failure(session.peer.request('ping'))).message).toContain("'gzip'")
  })

  it.each([
    ['JSON', 200, 'application/json', 'limit_exceeded'],
    ['an error', 500, 'text/html', 'http_status'],
    ['an error in JSON', 500, 'application/json', 'http_status'],
    ['an acceptance', 202, 'text/plain', 'protocol_violation'],
  ])('and never ends is given up (%s)', async (_what, status, type, code) => {
    let closed = false
    await using server = await startServer({
      'tools/call': ({ response }) => {
        response.writeHead(status, { 'Content-Type': type })
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        }
        response.on('drain', more).on('close', () => {
          closed = true
        })
        more()
      },
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code })
    await expect.poll(() => closed).toBe(true)
  })

  it('and declares more than is allowed is not read at all', async () => {
    await using server = await startServer({
      'tools/call': ({ response }) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': String(17 * 1024 * 1024) })
        response.flushHeaders()
      },
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'limit_exceeded' })
  })

  it('and stalls in an error body gives what came of it', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({
      'tools/call': ({ response }) => {
        response.writeHead(500, { 'Content-Type': 'text/plain' })
        response.write('half an explanation')
      },
    })
    await using session = await openSession(server.url, { timers })
    const failing = failure(session.peer.request('tools/call', {}))
    await timers.waitingFor(5000)
    // The first part of the body came in one packet with the head, which is what starts this wait.
    timers.advance(5000)
    expect((await failing).message).toBe('HTTP 500: half an explanation [incomplete]')
  })

  it('hangs no other request of the connection', async () => {
    await using server = await startServer({ 'tools/call': () => {} })
    await using session = await openSession(server.url)
    const hanging = failure(session.peer.request('tools/call', {}))
    expect(await session.peer.request('ping')).toEqual({})
    await session.peer.close()
    expect(await hanging).toMatchObject({ code: 'transport_closed', sent: true })
  })
})

describe('a JSON-RPC error in the body', () => {
  it.each([400, 404, 422, 500, 503])('of HTTP %s is the answer of a call', async (status) => {
    await using server = await startServer({ 'tools/call': ({ error }) => error(-32602, 'bad arguments', status) })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({
      code: 'rpc_error',
      rpcCode: -32602,
      message: 'bad arguments',
    })
  })

  it('of a retryable status is no answer of what may be repeated', async () => {
    const timers = new ManualTimers()
    await using server = await startServer({ 'tools/list': ({ error }) => error(-32603, 'overloaded', 503) })
    await using session = await openSession(server.url, { timers })
    const failing = failure(session.peer.request('tools/list'))
    for (const pause of [250, 1000]) {
      await timers.waitingFor(pause)
      timers.advance(pause)
    }
    expect(await failing).toMatchObject({ code: 'http_status', status: 503 })
    expect(server.rpcs()).toEqual(['tools/list', 'tools/list', 'tools/list'])
  })

  it('without an id belongs to the request, with another one it does not', async () => {
    await using server = await startServer({
      ping: ({ error }) => error(-32000, 'no id', 400, null),
      'tools/call': ({ error }) => error(-32000, 'other', 400, 4711),
    })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.request('ping'))).toMatchObject({ code: 'rpc_error', message: 'no id' })
    expect(await failure(session.peer.request('tools/call', {}))).toMatchObject({ code: 'http_status', status: 400 })
  })

  it('to a notification is a failure of the notification', async () => {
    await using server = await startServer({ 'notifications/x': ({ error }) => error(-32600, 'unknown', 400) })
    await using session = await openSession(server.url)
    expect(await failure(session.peer.notify('notifications/x'))).toMatchObject({ code: 'http_status', status: 400 })
  })
})

describe('a notification', () => {
  it.each([
    [202, ''],
    [204, ''],
    [200, ''],
    [200, 'OK'],
  ])('is taken with HTTP %s and body %j', async (status, body) => {
    await using server = await startServer({ 'notifications/x': ({ text }) => text(status, body) })
    await using session = await openSession(server.url)
    await session.peer.notify('notifications/x')
    expect(await session.peer.request('ping')).toEqual({})
  })
})
