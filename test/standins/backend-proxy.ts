import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Backend } from './backend.js'

/** A proxy for programs that take one from `HTTPS_PROXY`: whatever host they ask for, they reach the backend. */
export interface BackendProxy extends AsyncDisposable {
  readonly url: string
}

export async function startBackendProxy({ port }: Pick<Backend, 'port'>): Promise<BackendProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((_, response) => response.writeHead(405).end())
  server.on('connect', (_, client: Socket, head: Buffer) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      client.pipe(upstream).pipe(client)
    })
  })
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return address.port
}
