import { describe, expect, it } from 'vitest'
import { startServer } from '../fixtures/http/server.js'
import { failure, openSession } from '../fixtures/http/session.js'

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
