import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createHttpClient } from '../../src/environments/index.js'
import { CERTIFICATE, KEY } from '../fixtures/http/certificate.js'
import { ManualTimers } from '../fixtures/http/manual-timers.js'
import { failure } from '../fixtures/http/plain.js'
import { startProxy } from '../fixtures/http/proxy.js'
import { INITIALIZED, startServer } from '../fixtures/http/server.js'
import { openSession } from '../fixtures/http/session.js'

describe('a server behind a proxy', () => {
  it('is spoken to through it, streams and all', async () => {
    await using server = await startServer(
      {
        GET: (turn) => {
          turn.stream()
          turn.event({ jsonrpc: '2.0', method: 'notifications/x' })
        },
        'tools/call': (turn) => {
          turn.stream()
          turn.event({ jsonrpc: '2.0', id: turn.message.id, result: { streamed: true } })
          turn.response.end()
        },
      },
      { session: 's1' },
    )
    await using proxy = await startProxy()
    const http = createHttpClient({ env: { HTTP_PROXY: proxy.origin } })
    const url = `http://mcp.test:${server.port}/mcp`
    const session = await openSession(url, { http })
    await session.initialize()
    expect(await session.peer.request('tools/call', {})).toEqual({ streamed: true })
    await expect.poll(() => session.notifications.length).toBe(1)
    await session.peer.close()
    await http.close()
    expect([...proxy.asked].sort()).toEqual([
      `DELETE ${url}`,
      `GET ${url}`,
      `POST ${url}`,
      `POST ${url}`,
      `POST ${url}`,
    ])
    expect(server.received.every(({ headers }) => headers.host === `mcp.test:${server.port}`)).toBe(true)
  })

  it('is spoken to in a tunnel when it is https, in which the proxy sees nothing', async () => {
    const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { id } = JSON.parse(Buffer.concat(chunks).toString() || '{}')
      if (id === undefined) response.writeHead(request.method === 'GET' ? 405 : 202).end()
      else {
        response.writeHead(200, { 'Content-Type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: INITIALIZED }))
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await using proxy = await startProxy()
    const http = createHttpClient({ env: { HTTPS_PROXY: proxy.origin }, ca: [CERTIFICATE] })
    const session = await openSession(`https://mcp.test:${port}/mcp`, { http })
    expect(await session.initialize()).toMatchObject({ serverInfo: { name: 'scripted' } })
    await session.peer.close()
    await http.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT mcp.test:${port}`]))
  })

  it('that the proxy cannot reach is an error of that request', async () => {
    const timers = new ManualTimers()
    await using proxy = await startProxy({ refuse: 502 })
    const env = { HTTP_PROXY: proxy.origin, HTTPS_PROXY: proxy.origin }
    const http = createHttpClient({ env })
    await using plain = await openSession('http://mcp.test/mcp', { http, timers })
    expect(await failure(plain.peer.request('tools/call', {}))).toMatchObject({
      code: 'http_status',
      message: 'HTTP 502: refused by the proxy',
    })
    await using tunnelled = await openSession('https://mcp.test/mcp', { http, timers })
    const failing = failure(tunnelled.peer.request('tools/call', {}))
    for (const pause of [250, 1000]) {
      await timers.waitingFor(pause)
      timers.advance(pause)
    }
    expect(await failing).toMatchObject({ code: 'transport_closed', sent: false, data: { reason: 'proxy' } })
    await http.close()
  })
})
