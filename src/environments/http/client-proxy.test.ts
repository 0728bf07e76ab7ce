import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { CERTIFICATE, KEY } from '../../../test/fixtures/http/certificate.js'
import { listen } from '../../../test/fixtures/http/listen.js'
import { failure, get, text } from '../../../test/fixtures/http/plain.js'
import { startProxy } from '../../../test/fixtures/http/proxy.js'
import { rawServer } from '../../../test/fixtures/http/raw-server.js'
import type { HttpClient } from '../environment.js'
import { createHttpClient, type HttpClientOptions } from './client.js'

const clients: HttpClient[] = []
function client(options: Partial<HttpClientOptions> = {}): HttpClient {
  const made = createHttpClient({ env: {}, ...options })
  clients.push(made)
  return made
}
afterEach(async () => {
  await Promise.all(clients.splice(0).map((made) => made.close()))
})

describe('a proxy', () => {
  it('forwards plain http, with its credentials and without ours to it', async () => {
    await using server = await listen((request, response) => {
      response.end(`${request.url} ${request.headers['proxy-authorization']} ${request.headers.authorization}`)
    })
    await using proxy = await startProxy()
    const http = client({ env: { HTTP_PROXY: `http://me:p%40ss@127.0.0.1:${proxy.port}` } })
    const url = `http://mcp.test:${server.port}/mcp?a=1`
    const response = await http.request(get(url, { headers: [['Authorization', 'Bearer t']] }))
    expect(await text(response)).toBe('/mcp?a=1 undefined Bearer t')
    expect(proxy.asked).toEqual([`GET ${url}`])
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from('me:p@ss').toString('base64')}`])
  })

  it('is asked for a tunnel to an https server', async () => {
    const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, (_request, response) => response.end('through'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await using proxy = await startProxy()
    try {
      const http = client({ env: { https_proxy: proxy.origin }, ca: [CERTIFICATE] })
      expect(await text(await http.request(get(`https://mcp.test:${port}/`)))).toBe('through')
      expect(proxy.asked).toEqual([`CONNECT mcp.test:${port}`])
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })

  it('is not asked for the loopback, unless that is wanted by name', async () => {
    await using server = await listen((_request, response) => void response.end('ok'))
    await using proxy = await startProxy()
    await text(await client({ env: { HTTP_PROXY: proxy.origin } }).request(get(server.origin)))
    expect(proxy.asked).toEqual([])
    const env = { HTTP_PROXY: proxy.origin, NO_PROXY: '<-loopback>' }
    await text(await client({ env }).request(get(server.origin)))
    expect(proxy.asked).toEqual([`GET ${server.origin}/`])
  })

  it.each([
    ['asks for credentials', { refuse: 407 }],
    ['fails', { refuse: 502 }],
  ])('that %s leaves the request unsent', async (_what, options) => {
    await using proxy = await startProxy(options)
    const http = client({ env: { HTTPS_PROXY: proxy.origin } })
    const error = await failure(http.request(get('https://mcp.test/')))
    expect(error).toMatchObject({ sent: false, data: { reason: 'proxy' } })
  })

  it('that closes every connection is asked once, not in a loop', async () => {
    await using proxy = await rawServer((socket) => socket.destroy())
    const http = client({ env: { HTTPS_PROXY: proxy.origin } })
    const error = await failure(http.request(get('https://mcp.test/', { signal: AbortSignal.timeout(3000) })))
    expect(error).toMatchObject({ code: 'transport_closed', sent: false })
    expect(proxy.connections()).toBeLessThan(4)
  })

  it('with an unusable address is an error that names the variable and not its value', async () => {
    const error = await failure(client({ env: { HTTP_PROXY: 'ftp://u:secret@x' } }).request(get('http://mcp.test/')))
    expect(error).toMatchObject({ code: 'invalid_proxy', place: 'HTTP_PROXY' })
    expect(error.message).not.toContain('secret')
  })
})
