import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serverKey } from '../../src/identity/index.js'
import { became, offered, RealConnections, remote, textOf } from '../fixtures/connections/real-servers.js'
import { startSdkV1Server } from '../fixtures/http/sdk-v1-server.js'
import { startSdkV2Server } from '../fixtures/http/sdk-v2-server.js'
import { startServer } from '../fixtures/http/server.js'

const DOCS = serverKey('docs')

describe('an HTTP server', () => {
  let connections: RealConnections
  const stop: (() => Promise<unknown>)[] = []
  beforeEach(async () => {
    connections = await RealConnections.open()
  })
  afterEach(async () => {
    await connections[Symbol.asyncDispose]()
    await Promise.all(stop.splice(0).map((close) => close()))
  })

  const implementations = { v1: startSdkV1Server, v2: startSdkV2Server }
  it.each(['v1', 'v2'] as const)(
    '(SDK %s) restarted on its port gets a new session: lists and calls go on',
    async (version) => {
      const start = implementations[version]
      const first = await start()
      connections.manager.replace([remote('docs', first.url)])
      await connections.manager.capture({ wait: 'all' })
      const client = await connections.manager.ready(DOCS)
      const [captured] = await connections.manager.capture()
      const call = captured?.prepareCall('echo')
      expect(textOf((await call?.run({ arguments: { n: 1 } })) ?? {})).toBe('{"n":1}')

      await first.close()
      const second = await start({ port: Number(new URL(first.url).port) })
      stop.push(() => second.close())
      expect(await client.request('tools/list', {})).toHaveProperty('tools')
      expect(textOf((await call?.run({ arguments: { n: 2 } })) ?? {})).toBe('{"n":2}')
      expect(second.sessions()).toBe(1)
      expect(connections.manager.statuses()).toMatchObject([{ status: 'connected' }])

      const all = await Promise.all([1, 2, 3, 4].map((n) => call?.run({ arguments: { n } })))
      expect(all.map((result) => textOf(result ?? {}))).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'])
    },
  )

  it('restarted gets one new session for many listings that find the old one gone', async () => {
    const first = await startSdkV2Server()
    connections.manager.replace([remote('docs', first.url)])
    await connections.manager.capture({ wait: 'all' })
    const client = await connections.manager.ready(DOCS)
    await first.close()
    const second = await startSdkV2Server({ port: Number(new URL(first.url).port) })
    stop.push(() => second.close())
    const listings = await Promise.all(Array.from({ length: 8 }, () => client.request('tools/list', {})))
    expect(listings.every((listing) => Array.isArray(listing.tools))).toBe(true)
    expect(second.sessions()).toBe(1)
  })

  it('that says its list changed is listed again', async () => {
    let extra = false
    const server = await startServer({
      'tools/list': ({ result }) =>
        result({
          tools: ['echo', ...(extra ? ['more'] : [])].map((name) => ({ name, inputSchema: { type: 'object' } })),
        }),
      'tools/call': ({ stream, event, message, response }) => {
        extra = true
        stream()
        event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
        event({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
        response.end()
      },
    })
    stop.push(() => server.close())
    connections.manager.replace([remote('docs', server.url)])
    const [captured] = await connections.manager.capture({ wait: 'all' })
    const changed = connections.next(offered('docs'))
    await captured?.prepareCall('echo').run({})
    await changed
    expect((await connections.manager.capture())[0]?.tools.map(({ name }) => name)).toEqual(['echo', 'more'])
  })

  it('that asks for a login, fails, or is not there is named', async () => {
    const login = await startServer({
      POST: ({ text }) => text(401, 'no', { 'WWW-Authenticate': 'Bearer realm="docs"' }),
    })
    const broken = await startServer({ POST: ({ text }) => text(500, 'exploded') })
    const gone = await startServer()
    await gone.close()
    stop.push(
      () => login.close(),
      () => broken.close(),
    )
    connections.manager.replace([remote('login', login.url), remote('broken', broken.url), remote('gone', gone.url)])
    await connections.manager.capture({ wait: 'all' })
    expect(connections.manager.statuses().map(({ key, status }) => [key.name, status])).toEqual([
      ['broken', 'failed'],
      ['gone', 'failed'],
      ['login', 'authentication_required'],
    ])
    const failed = await connections.event(became('login', 'failed'))
    expect(failed).toMatchObject({ error: 'The login MCP server is not logged in. Run `reeve login login`.' })
    expect(broken.rpcs().filter((method) => method === 'initialize')).toHaveLength(3)
    expect(login.rpcs()).toEqual(['server/discover'])
  })
})
