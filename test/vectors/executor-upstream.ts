import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

/** The HTTP server that the cases of the executor protocol ask for. */
export async function executorUpstream(): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer((request, response) => {
    request.resume()
    PAGES[request.url ?? '']?.(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const PAGES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/echo': (response) =>
    response
      .writeHead(
        200,
        [
          ['X-Multi', 'a'],
          ['X-Multi', 'b'],
          ['Set-Cookie', 'c1=1'],
          ['Set-Cookie', 'c2=2'],
          ['Content-Length', '2'],
        ].flat(),
      )
      .end('ok'),
  '/gzip': (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' })
    response.end(gzipSync('hello gzip'))
  },
  '/status': (response) => response.writeHead(503, { 'transfer-encoding': 'chunked' }).end('busy'),
  '/redir': (response) => response.writeHead(302, { location: '/echo', 'transfer-encoding': 'chunked' }).end('moved'),
  '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
  '/sse': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end('data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n')
  },
  '/forever': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const beat = setInterval(() => response.write(': ka\n\n'), 50)
    response.on('close', () => clearInterval(beat))
  },
  '/reset': (response) => {
    response.write('part', () => response.destroy())
  },
  '/slowbody': (response) => void response.write('part'),
  '/slowhdr': (response) => {
    const late = setTimeout(() => response.writeHead(200, { 'content-length': 4 }).end('late'), 1500)
    response.on('close', () => clearTimeout(late))
  },
}
