import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { type AuthHttp, createAuthHttp } from '../../src/auth/index.js'
import { createHttpClient } from '../../src/environments/index.js'
import { BACKEND_CA, BACKEND_CERTIFICATE, BACKEND_KEY } from './backend-certificate.js'
import { BackendModel, type BackendReply, type BackendRequest } from './backend-model.js'

export interface Backend extends AsyncDisposable {
  readonly model: BackendModel
  readonly port: number
  /** As it is reached directly: TLS, by name. */
  readonly origin: string
  /** PEM of the CA that signed its certificate. */
  readonly ca: string
  /** Where connections to any host of the first-party backend go instead. */
  readonly route: () => { readonly host: string; readonly port: number }
  /** The auth room's way to it, under the real names; ends with the backend. */
  readonly http: AuthHttp
}

/**
 * The backend on a loopback port of the system's choice, over TLS, until disposed. `onTheWay` is waited for twice: before a
 * request arrives, and before its answer leaves.
 */
export async function startBackend(
  model = new BackendModel(),
  onTheWay: () => Promise<void> | undefined = () => undefined,
): Promise<Backend> {
  const server = createServer({ cert: BACKEND_CERTIFICATE, key: BACKEND_KEY }, (incoming, response) => {
    const handled = async () => {
      const request = await receive(incoming)
      await onTheWay()
      const reply = model.handle(request)
      await onTheWay()
      return reply
    }
    handled().then(
      (reply) => answer(response, reply),
      (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
    )
  })
  // On a busy machine an idle connection would end just when a client uses it again.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the backend has no port')
  const { port } = address
  const route = () => ({ host: '127.0.0.1', port })
  const client = createHttpClient({ env: {}, ca: [BACKEND_CA], route })
  return {
    model,
    port,
    origin: `https://localhost:${port}`,
    ca: BACKEND_CA,
    route,
    http: createAuthHttp(client),
    [Symbol.asyncDispose]: async () => {
      await client.close()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

async function receive(incoming: IncomingMessage): Promise<BackendRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
  const { rawHeaders } = incoming
  const headers = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as const] : [],
  )
  return {
    host: (incoming.headers.host ?? '').replace(/:\d+$/, ''),
    method: incoming.method ?? '',
    path: (incoming.url ?? '').replace(/\?.*$/, ''),
    headers,
    body: Buffer.concat(chunks).toString('utf8'),
  }
}

function answer(response: ServerResponse, { status, headers = {}, body, fault }: BackendReply): void {
  if (fault === 'drop') response.destroy()
  else if (fault === 'open') response.writeHead(status, headers).write(body ?? ': open\n\n')
  else if (fault === undefined) response.writeHead(status, headers).end(body)
}
