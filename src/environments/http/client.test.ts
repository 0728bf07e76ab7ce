import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { CERTIFICATE, KEY } from '../../../test/fixtures/http/certificate.js'
import { listen } from '../../../test/fixtures/http/listen.js'
import { failure, get, text } from '../../../test/fixtures/http/plain.js'
import { closedPort, rawServer } from '../../../test/fixtures/http/raw-server.js'
import { CancelledError, TransportClosedError } from '../../errors.js'
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

describe('an exchange', () => {
  it('carries method, path, query, headers and body as given, and gives the answer back', async () => {
    await using server = await listen((request, response, body) => {
      response.writeHead(201, { 'X-Answer': 'yes', 'Set-Cookie': ['a=1', 'b=2'] })
      response.end(
        JSON.stringify({ url: request.url, method: request.method, custom: request.headers['x-custom'], body }),
      )
    })
    const response = await client().request({
      method: 'POST',
      url: `${server.origin}/mcp?tenant=7#fragment`,
      headers: [['X-Custom', 'v']],
      body: '{"ä":1}',
    })
    expect(response.status).toBe(201)
    expect(response.header('x-answer')).toBe('yes')
    expect(response.headerAll('set-cookie')).toEqual(['a=1', 'b=2'])
    expect(response.header('constructor')).toBeUndefined()
    expect(JSON.parse(await text(response))).toEqual({
      url: '/mcp?tenant=7',
      method: 'POST',
      custom: 'v',
      body: '{"ä":1}',
    })
  })

  it('keeps the bytes of a header that is not ASCII, in both directions', async () => {
    await using server = await rawServer((socket) => {
      socket.once('data', (chunk) => {
        const sent = /x-name: (.*)\r\n/i.exec(chunk.toString('utf8'))?.[1] ?? ''
        socket.end(Buffer.from(`HTTP/1.1 200 OK\r\nX-Name: ${sent}\r\nContent-Length: 0\r\n\r\n`, 'utf8'))
      })
    })
    const response = await client().request(get(server.origin, { headers: [['X-Name', 'Zoë ✓']] }))
    expect(response.header('x-name')).toBe('Zoë ✓')
    expect(await text(response)).toBe('')
  })

  it('follows no redirect', async () => {
    await using server = await listen(
      (_request, response) => void response.writeHead(307, { location: '/other' }).end(),
    )
    const response = await client().request(get(`${server.origin}/`))
    expect(response.status).toBe(307)
    expect(await text(response)).toBe('')
    expect(server.seen).toEqual(['GET /'])
  })

  it('passes over interim answers', async () => {
    await using server = await listen((_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' })
      response.end('final')
    })
    const response = await client().request(get(server.origin))
    expect([response.status, await text(response)]).toEqual([200, 'final'])
  })

  it('reuses its connections for requests one after the other', async () => {
    await using server = await listen((_request, response) => void response.end('ok'))
    const http = client()
    for (let n = 0; n < 20; n += 1) await text(await http.request(get(server.origin)))
    // The library gives a connection back one turn of the event loop late: two take turns.
    expect(server.sockets.size).toBeLessThanOrEqual(2)
  })

  it('holds a fast server back when the reader is slow', async () => {
    let written = 0
    await using server = await listen((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024)
      const more = () => {
        while (!response.destroyed && written < 64 * 1024 * 1024) {
          written += chunk.length
          if (!response.write(chunk)) return
        }
        response.end()
      }
      response.on('drain', more)
      more()
    })
    const response = await client().request(get(server.origin))
    let last = -1
    // It stands still once every buffer on the way is full.
    while (written !== last) {
      last = written
      await wait(50)
    }
    expect(written).toBeLessThan(32 * 1024 * 1024)
    expect((await text(response)).length).toBe(64 * 1024 * 1024)
  })
})

describe('ending an exchange', () => {
  it('adds one listener to the signal and takes it off again, ten thousand times', async () => {
    await using server = await listen((_request, response) => void response.end('ok'))
    const http = client()
    const { signal } = new AbortController()
    let listeners = 0
    let most = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1
      most = Math.max(most, listeners)
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1
      remove(...args)
    }
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    try {
      for (let n = 0; n < 10_000; n += 1) await text(await http.request(get(server.origin, { signal })))
    } finally {
      process.off('warning', onWarning)
    }
    expect({ listeners, most, warnings }).toEqual({ listeners: 0, most: 1, warnings: [] })
  })

  it('rejects at once when the signal has fired already, and sends nothing', async () => {
    await using server = await listen((_request, response) => void response.end('ok'))
    const error = await failure(client().request(get(server.origin, { signal: AbortSignal.abort() })))
    expect(error).toBeInstanceOf(CancelledError)
    expect(error).toMatchObject({ data: { sent: false } })
    expect(server.seen).toEqual([])
  })

  it('stops waiting for an answer and closes the connection', async () => {
    const abort = new AbortController()
    let closed: Promise<unknown> | undefined
    await using server = await listen((request) => {
      closed = once(request.socket, 'close')
      abort.abort()
    })
    const error = await failure(client().request(get(server.origin, { signal: abort.signal })))
    expect(error).toMatchObject({ code: 'cancelled', data: { sent: true } })
    await closed
  })

  it('ends a body in the middle: what came is read, then the cancellation', async () => {
    const abort = new AbortController()
    await using server = await listen((_request, response) => {
      response.write('first')
    })
    const response = await client().request(get(server.origin, { signal: abort.signal }))
    const read: string[] = []
    const error = await failure(
      (async () => {
        for await (const chunk of response.body) {
          read.push(chunk.toString())
          abort.abort()
        }
      })(),
    )
    expect(read).toEqual(['first'])
    expect(error).toBeInstanceOf(CancelledError)
  })

  it('frees the connection when a reader leaves early', async () => {
    let closed: Promise<unknown> | undefined
    await using server = await listen((request, response) => {
      closed = once(request.socket, 'close')
      response.write('first')
    })
    const response = await client().request(get(server.origin))
    for await (const _chunk of response.body) break
    await closed
  })

  it('never sends a request that was given up while it waited for a connection', async () => {
    const abort = new AbortController()
    let release: (() => void) | undefined
    await using server = await listen((request, response) => {
      if (request.url === '/first') release = () => response.end('done')
      else response.end('never')
    })
    const http = client({ maxConnections: 1 })
    const first = http.request(get(`${server.origin}/first`))
    await expect.poll(() => release).toBeDefined()
    const second = http.request(get(`${server.origin}/second`, { signal: abort.signal }))
    // The first request holds the only connection, so the second one is queued by now.
    await http.request(get(`${server.origin}/x`, { signal: AbortSignal.abort() })).catch(() => {})
    abort.abort()
    expect(await failure(second)).toMatchObject({ code: 'cancelled', data: { sent: false } })
    release?.()
    await text(await first)
    await text(await http.request(get(`${server.origin}/third`)))
    expect(server.seen).toEqual(['GET /first', 'GET /third'])
  })

  it('fails what is open when the client closes, and everything after', async () => {
    await using server = await listen(() => {})
    const http = client()
    const pending = failure(http.request(get(`${server.origin}/held`)))
    await expect.poll(() => server.seen).toContain('GET /held')
    await http.close()
    expect(await pending).toMatchObject({ code: 'transport_closed', sent: true })
    expect(await failure(http.request(get(server.origin)))).toMatchObject({ code: 'closed' })
  })
})

describe('a failed connection', () => {
  it('says that a refused request was certainly not sent', async () => {
    const port = await closedPort()
    const error = await failure(client().request(get(`http://127.0.0.1:${port}/mcp?key=secret`)))
    expect(error).toBeInstanceOf(TransportClosedError)
    expect(error).toMatchObject({
      sent: false,
      place: `http://127.0.0.1:${port}/mcp`,
      data: { sent: false, reason: 'refused', errno: 'ECONNREFUSED' },
    })
    expect(error.message).not.toContain('secret')
  })

  it('says that an unknown host was certainly not reached', async () => {
    const error = await failure(client().request(get('http://user:secret@nowhere.invalid/mcp')))
    expect(error).toMatchObject({ sent: false, data: { reason: 'dns' } })
    expect(error.message).not.toContain('secret')
  })

  it('says that a request over a cut connection may have arrived', async () => {
    await using server = await rawServer((socket) => {
      socket.once('data', () => socket.destroy())
    })
    const error = await failure(client().request({ ...get(server.origin), method: 'POST', body: '{}' }))
    expect(error).toMatchObject({ sent: true, data: { sent: true, reason: 'reset' } })
  })

  it('reports a body that is cut, after what came of it', async () => {
    await using server = await listen((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    const response = await client().request(get(server.origin))
    expect(await failure(text(response))).toMatchObject({ code: 'transport_closed', sent: true })
  })

  it('names an answer that is not HTTP', async () => {
    await using server = await rawServer((socket) => {
      socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))
    })
    expect(await failure(client().request(get(server.origin)))).toMatchObject({ data: { reason: 'not_http' } })
  })

  it('refuses a head that never ends', async () => {
    await using server = await rawServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const more = () => {
          while (!socket.destroyed && socket.write(`X-Filler: ${'x'.repeat(8000)}\r\n`));
        }
        socket.on('drain', more)
        more()
      })
    })
    expect(await failure(client().request(get(server.origin)))).toMatchObject({ data: { reason: 'not_http' } })
  })

  it('refuses a certificate it does not trust before sending anything, and accepts it when told', async () => {
    let requests = 0
    const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, (_request, response) => {
      requests += 1
      response.end('private')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`
    try {
      expect(await failure(client().request(get(url)))).toMatchObject({ sent: false, data: { reason: 'tls' } })
      expect(requests).toBe(0)
      expect(await text(await client({ ca: [CERTIFICATE] }).request(get(url)))).toBe('private')
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
})
