import { createHttpClient } from '../environments/index.js'
import type { Authentication } from './http/authentication.js'
import type { HttpLimits } from './http/limits.js'
import { startHttpServer } from './http/server.js'
import type { ProtectedResource } from './inbound-auth/index.js'
import type { ModernLimits } from './modern/limits.js'
import { ModernService } from './modern/service.js'
import { closeOnSignals, ENDING_SIGNALS, OpenSessions, type Serving } from './serving.js'
import { GatewaySession, type GatewaySessionOptions } from './session.js'
import { TaskOwners } from './tasks/index.js'

export interface ServeHttpOptions extends GatewaySessionOptions {
  /** What is held for clients of the modern era. */
  readonly modernLimits?: Partial<ModernLimits>
  /** Default `127.0.0.1`. Anything that others can reach needs a token. */
  readonly host?: string
  /** Default 0: the system chooses. */
  readonly port?: number
  readonly authentication: Authentication
  /** Host names, without port, that a `Host` header may hold beside the loopback ones. */
  readonly allowedHosts?: readonly string[]
  /** Origins of web pages that may talk to the gateway beside those of this machine. */
  readonly allowedOrigins?: readonly string[]
  readonly limits?: Partial<HttpLimits>
  /** End the gateway. Default SIGINT and SIGTERM. */
  readonly signals?: readonly NodeJS.Signals[]
}

export interface HttpServing extends Serving {
  /** Of the MCP endpoint, e.g. `http://127.0.0.1:4100/mcp`. */
  readonly url: string
  /** The bearer token that clients must send; absent without one. */
  readonly token?: string
  /** What clients log in for, and where; absent without an authorization server. */
  readonly resource?: ProtectedResource
}

/**
 * Serves any number of clients over streamable HTTP: legacy ones with a session and a thread each, modern ones request by
 * request, with a thread for each principal and way to introduce oneself.
 *
 * @throws ConfigError `open_gateway` or `listen`.
 *
 * @example
 * ```ts
 * const token = await loadOrCreateToken(join(home, 'run', 'gateway-token'))
 * const serving = await serveHttp({ ...options, port: 4100, authentication: { kind: 'bearer', token } })
 * console.error(`listening on ${serving.url}`)
 * ```
 */
export async function serveHttp(given: ServeHttpOptions): Promise<HttpServing> {
  const options = { ...given, taskOwners: new TaskOwners() }
  const { authentication } = options
  const sessions = new OpenSessions()
  const modern = new ModernService({ ...options, onThread: (thread, principal) => sessions.add(thread, principal) })
  // Of this host, with its proxies; nothing is loaded before the first request.
  const http = authentication.kind === 'oauth' ? createHttpClient({ env: process.env }) : undefined
  const server = await startHttpServer({
    ...options,
    ...(http && { http }),
    serve: (transport, principal) => {
      const session = new GatewaySession(transport, { ...options, principal: principal.id })
      sessions.add(session, principal.id)
      void session.start()
    },
    answerModern: (request) => modern.answer(request),
  })
  let ending: Promise<void> | undefined
  let onClosed: () => void = () => undefined
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve
  })
  const close = () => {
    ending ??= Promise.all([server.close(), modern.close(), sessions.close(), http?.close()]).then(() => {
      deafen()
      onClosed()
    })
    return ending
  }
  const deafen = closeOnSignals(options.signals ?? ENDING_SIGNALS, close)
  return {
    url: server.url,
    ...(authentication.kind === 'bearer' && { token: authentication.token }),
    ...(server.resource && { resource: server.resource }),
    closed,
    close,
    sessions: () => sessions.rows(),
    [Symbol.asyncDispose]: close,
  }
}
