import { describe, expect, it } from 'vitest'
import { PROFILE } from '../fixtures/connections/harness.js'
import { became, RealConnections, remote } from '../fixtures/connections/real-servers.js'
import { startServer } from '../fixtures/http/server.js'

describe('what a legacy HTTP server makes of the question for its era', () => {
  it.each<[string, Parameters<typeof startServer>[0]]>([
    ['500 and a page', { 'server/discover': ({ text }) => text(500, '<h1>Internal Server Error</h1>') }],
    ['500 and an error', { 'server/discover': ({ error }) => error(-32603, 'boom', 500) }],
    ['400 and an error without id', { 'server/discover': ({ error }) => error(-32000, 'no session', 400, null) }],
    ['404', { 'server/discover': ({ text }) => text(404, 'nothing here') }],
    ['a login page', { 'server/discover': ({ text }) => text(200, '<html>', { 'Content-Type': 'text/html' }) }],
    ['unreadable JSON', { 'server/discover': ({ text }) => text(200, '{', { 'Content-Type': 'application/json' }) }],
    ['nothing: it accepts it', { 'server/discover': ({ text }) => text(202) }],
    ['a cut connection', { 'server/discover': ({ cut }) => cut() }],
    [
      'a stream that ends',
      {
        'server/discover': ({ stream, response }) => {
          stream()
          response.end()
        },
      },
    ],
  ])('%s: it gets its handshake', async (_what, routes) => {
    await using server = await startServer(routes, { session: 's1' })
    await using connections = await RealConnections.open()
    connections.manager.replace([remote('docs', server.url)])
    await connections.manager.capture({ wait: 'all' })
    expect(connections.manager.statuses()).toMatchObject([{ status: 'connected', era: 'legacy' }])
    expect(server.rpcs().slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  })

  it('silence: it gets its handshake within the one deadline', async () => {
    await using server = await startServer({ 'server/discover': () => {} })
    await using connections = await RealConnections.open()
    connections.manager.replace([remote('docs', server.url, { startupTimeoutMs: 900 })])
    await connections.event(became('docs', 'ready'))
    expect(connections.manager.statuses()).toMatchObject([{ era: 'legacy' }])
  })

  it('a wish for a login: it stays one', async () => {
    await using server = await startServer({
      'server/discover': ({ text }) => text(401, '', { 'WWW-Authenticate': 'Bearer realm="x"' }),
    })
    await using connections = await RealConnections.open({ profile: PROFILE })
    connections.manager.replace([remote('docs', server.url)])
    await connections.manager.capture({ wait: 'all' })
    expect(connections.manager.statuses()).toMatchObject([{ status: 'authentication_required' }])
    expect(server.rpcs()).toEqual(['server/discover'])
  })
})
