import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { MCP_HEADERS, RawSession, send } from '../../../test/e2e/gateway/raw-http.js'
import { gateway, initialize } from '../../../test/fixtures/gateway/http-sessions.js'

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

  it('leaves room for others, whatever one principal holds', async () => {
    const authenticate = (authorization: string | undefined) => ({ id: authorization?.split(' ')[1] ?? 'nobody' })
    const authentication = { kind: 'custom', authenticate } as const
    const { url } = await gateway({ sessions: 4, evictAfterMs: 0 }, { authentication })
    const anns = [await RawSession.open(url, { token: 'ann' }), await RawSession.open(url, { token: 'ann' })]
    const streams = [await anns[0]?.listen(), await anns[1]?.listen()]
    const headers = { authorization: 'Bearer ann' }
    expect((await send(url, { headers, body: initialize() })).status).toBe(503)
    const bobs = await RawSession.open(url, { token: 'bob' })
    streams[0]?.drop()
    await expect.poll(async () => (await send(url, { headers, body: initialize() })).status).toBe(200)
    // What made room was her own.
    expect((await bobs.request('echo')).status).toBe(200)
    expect((await anns[0]?.request('echo'))?.status).toBe(404)
    streams[1]?.drop()
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
