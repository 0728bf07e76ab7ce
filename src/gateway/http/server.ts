import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigError } from '../../errors.js'
import { ProtectedResource, type ResourceServerOptions } from '../inbound-auth/index.js'
import { isRefused, REFUSALS, type Refusal, refuse, sendJson } from './answers.js'
import { type Admission, type Authentication, type Doorkeeper, doorkeeper, type Principal } from './authentication.js'
import { corsHeaders, preflightHeaders } from './cors.js'
import { endWhenOver } from './expiry.js'
import { type HostRules, hostAllowed, isLoopback, originAllowed } from './hosts.js'
import { HTTP_LIMITS, type HttpLimits } from './limits.js'
import { accepts } from './media.js'
import { InFlight, isModernHeader, type ModernAnswerer } from './modern-post.js'
import { type Endpoint, findSession, handlePost, isRefusal } from './post.js'
import { SessionTable } from './session-table.js'
import { type HttpSessionTransport, SESSION_HEADER } from './session-transport.js'

export interface HttpServerOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** Default 0: the system chooses. */
  readonly port?: number
  readonly authentication: Authentication
  /** How the issuer of `oauth` is reached, where its options don't say. */
  readonly http?: ResourceServerOptions['http']
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  readonly limits?: Partial<HttpLimits>
  /** Starts serving a session. Called before the session's first message is delivered. */
  readonly serve: (transport: HttpSessionTransport, principal: Principal) => void
  /** Answers a request of the modern era, which belongs to no session. */
  readonly answerModern: ModernAnswerer
  /** Something failed that was no client's fault. */
  readonly onWarning: (warning: Error) => void
}

export interface RunningHttpServer {
  /** Of the MCP endpoint. */
  readonly url: string
  /** Of `oauth`. */
  readonly resource?: ProtectedResource
  /** Ends every session, lets answers leave for a bounded time, and frees the port. Idempotent. */
  close(): Promise<void>
}

const ENDPOINT = '/mcp'

/**
 * Listens for MCP over streamable HTTP at `/mcp`, with `/health` beside it.
 *
 * @throws ConfigError `open_gateway` for an address that others can reach without a token; `listen` when the address
 * can't be had.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<RunningHttpServer> {
  const host = options.host ?? '127.0.0.1'
  refuseOpenGateway(host, options.authentication)
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const sessions = new SessionTable(limits)
  const { authentication } = options
  let url = urlOf(host, options.port ?? 0)
  const resource = protectedResource(options, host, () => url)
  const gate: Gate = {
    rules: {
      allowedHosts: [...(options.allowedHosts ?? []), ...publicHost(authentication)],
      allowedOrigins: options.allowedOrigins ?? [],
    },
    resource,
    admit: doorkeeper(authentication, resource),
    endpoint: {
      limits,
      sessions,
      serve: options.serve,
      answerModern: options.answerModern,
      modernInFlight: new InFlight(),
    },
  }
  const server = createLimitedServer(limits, (request, response) => {
    handle(request, response, gate).catch((error: unknown) => {
      options.onWarning(error instanceof Error ? error : new Error(String(error)))
      refuse(response, { status: 500, message: 'Internal error', code: -32603 })
    })
  })
  url = urlOf(host, await listen(server, host, options.port ?? 0))
  server.on('error', options.onWarning)
  let closing: Promise<void> | undefined
  return {
    url,
    ...(resource && { resource }),
    close: () => {
      closing ??= closeServer(server, sessions, limits.closeMs)
      return closing
    },
  }
}

interface Gate {
  readonly rules: HostRules
  readonly resource: ProtectedResource | undefined
  readonly admit: Doorkeeper
  readonly endpoint: Endpoint
}

/** Host and Origin before everything, so that a web page learns nothing; then path, principal, method. */
async function handle(request: IncomingMessage, response: ServerResponse, gate: Gate): Promise<void> {
  const { host, origin } = request.headers
  if (!hostAllowed(host, request.socket.localAddress, gate.rules)) return refuse(response, REFUSALS.host)
  if (!originAllowed(origin, gate.rules)) return refuse(response, REFUSALS.origin)
  if (origin !== undefined) response.setHeaders(corsHeaders(origin))
  const path = (request.url ?? '').split('?', 1)[0]
  if (path === '/health' && request.method === 'GET') return sendJson(response, 200, { status: 'ok' })
  const isMetadata = gate.resource?.isMetadataPath(path ?? '') === true
  if (!isMetadata && path !== ENDPOINT) return refuse(response, REFUSALS.path)
  if (request.method === 'OPTIONS') return preflight(request, response)
  if (isMetadata && gate.resource) return tellMetadata(request, response, gate.resource)
  const admission = await gate.admit(request)
  if (isRefused(admission)) return refuse(response, admission)
  const refusal = await handleMethod(request, response, admission, gate.endpoint)
  if (refusal !== undefined) refuse(response, refusal)
}

async function handleMethod(
  request: IncomingMessage,
  response: ServerResponse,
  admission: Admission,
  endpoint: Endpoint,
): Promise<Refusal | undefined> {
  const { principal, over } = admission
  if (request.method === 'POST') return handlePost(request, response, admission, endpoint)
  if (isModernHeader(request) && request.headers[SESSION_HEADER] === undefined) return REFUSALS.modernMethod
  if (request.method === 'GET') {
    if (over !== undefined) endWhenOver(response, over, endpoint.limits.expiryLookMs)
    return handleGet(request, response, principal, endpoint)
  }
  if (request.method === 'DELETE') return handleDelete(request, response, principal, endpoint)
  return REFUSALS.method
}

function handleGet(
  request: IncomingMessage,
  response: ServerResponse,
  principal: Principal,
  endpoint: Endpoint,
): Refusal | undefined {
  if (!accepts(request.headers.accept, 'text/event-stream')) return REFUSALS.acceptStream
  const session = findSession(request, principal, endpoint.sessions)
  if (isRefusal(session)) return session
  const lastEventId = request.headers['last-event-id']
  return session.listen(response, typeof lastEventId === 'string' ? lastEventId : undefined)
}

async function handleDelete(
  request: IncomingMessage,
  response: ServerResponse,
  principal: Principal,
  endpoint: Endpoint,
): Promise<Refusal | undefined> {
  const session = findSession(request, principal, endpoint.sessions)
  if (isRefusal(session)) return session
  await session.close()
  response.writeHead(204).end()
  return undefined
}

function tellMetadata(request: IncomingMessage, response: ServerResponse, { metadata }: ProtectedResource): void {
  if (request.method === 'GET') sendJson(response, 200, metadata, { 'cache-control': 'public, max-age=300' })
  else refuse(response, REFUSALS.metadataMethod)
}

/** The name that clients know the gateway by is one that they may send. */
function publicHost(authentication: Authentication): readonly string[] {
  const resource = authentication.kind === 'oauth' ? authentication.resource.resource : undefined
  return resource === undefined ? [] : [new URL(resource).hostname]
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${ENDPOINT}`
}

function preflight(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, preflightHeaders(request.headers['access-control-request-headers'])).end()
}

function protectedResource(
  { authentication, http, onWarning }: HttpServerOptions,
  host: string,
  url: () => string,
): ProtectedResource | undefined {
  if (authentication.kind !== 'oauth') return undefined
  const reached = authentication.resource.http ?? http
  if (reached === undefined) throw new TypeError('the issuer can not be reached without any HTTP')
  if (!isLoopback(host) && authentication.resource.resource === undefined) {
    const message = `say the URL that clients know the gateway by: tokens are for that resource, and ${host} names none`
    throw new ConfigError('no_resource', message, { place: 'gateway.auth.resource' })
  }
  return new ProtectedResource(authentication.resource, { http: reached, onWarning, url })
}

function refuseOpenGateway(host: string, authentication: Authentication): void {
  if (isLoopback(host) || authentication.kind !== 'none') return
  throw new ConfigError(
    'open_gateway',
    `refusing to listen on ${host} without a token: others could use every server`,
    {
      place: `address ${host}`,
    },
  )
}

function createLimitedServer(
  limits: HttpLimits,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.max(50, Math.min(limits.headersMs, limits.requestMs) / 4),
      keepAliveTimeout: 65_000,
    },
    onRequest,
  )
  server.maxConnections = limits.connections
  return server
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) =>
      reject(
        new ConfigError('listen', `can't listen on ${host}:${port}: ${error.message}`, {
          place: `address ${host}:${port}`,
          cause: error,
        }),
      )
    server.once('error', onError)
    server.listen({ host, port }, () => {
      server.off('error', onError)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

async function closeServer(server: Server, sessions: SessionTable, closeMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  await sessions.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), closeMs)
  await closed
  clearTimeout(timer)
}
