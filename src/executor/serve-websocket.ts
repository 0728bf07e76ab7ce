import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { UnsupportedError } from '../errors.js'
import { EXEC_LIMITS } from '../protocol/index.js'
import { type ExecutorAuthentication, refusal } from './auth/authentication.js'
import { createExecutor, type ExecutorOptions } from './executor.js'
import type { ServingExecutor } from './serve-stdio.js'
import { WebSocketChannel } from './websocket-channel.js'

export interface WebSocketExecutorOptions extends ExecutorOptions {
  /** An IP address. */
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly authentication: ExecutorAuthentication
}

export interface WebSocketExecutor extends ServingExecutor {
  /** `ws://IP:PORT`. */
  readonly url: string
}

/**
 * An executor behind a WebSocket listener (reference: executor-protocol, 2.1 and 2.2). Whoever gets in may run any command
 * and read any file of this user: so nobody beyond this machine gets in without a token, and no browser at all.
 *
 * @throws UnsupportedError when others could get in without a token; the error of the system when the port is taken
 */
export async function serveExecutorWebSocket(options: WebSocketExecutorOptions): Promise<WebSocketExecutor> {
  const { host, port, authentication } = options
  if (authentication.kind === 'none' && !isLoopback(host))
    throw new UnsupportedError(`listening on ${host} lets others run commands here: require a token with --ws-auth`)
  const { WebSocketServer } = await import('ws')
  const executor = createExecutor(options)
  const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: EXEC_LIMITS.message })
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const status = plainStatus(request)
    response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 200 ? 'ok' : '')
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request, socket, head) => {
    const refused = refusedUpgrade(request, authentication)
    if (refused !== undefined) return refuse(socket, refused)
    upgrades.handleUpgrade(request, socket, head, (webSocket) => {
      executor.connect(new WebSocketChannel(webSocket), true)
    })
  })
  server.listen({ host, port })
  await once(server, 'listening')
  const closed = once(server, 'close').then(() => executor.close())
  const end = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const address = server.address()
  const taken = typeof address === 'object' && address !== null ? address.port : port
  return { url: `ws://${isIP(host) === 6 ? `[${host}]` : host}:${taken}`, closed, [Symbol.asyncDispose]: end }
}

interface Refusal {
  readonly status: number
  readonly reason: string
}

function plainStatus({ method, url, headers }: IncomingMessage): number {
  if (headers.origin !== undefined) return 403
  const path = pathOf(url)
  if (path === '/readyz') return method === 'GET' || method === 'HEAD' ? 200 : 405
  return path === '/' ? 400 : 404
}

/** An Origin means a browser: the rule against pages that reach for this machine, by DNS rebinding too. */
function refusedUpgrade(
  { url, headers }: IncomingMessage,
  authentication: ExecutorAuthentication,
): Refusal | undefined {
  if (headers.origin !== undefined) return { status: 403, reason: 'browsers may not connect' }
  if (pathOf(url) !== '/') return { status: 404, reason: 'the endpoint is /' }
  const reason = refusal(authentication, headers.authorization)
  return reason === undefined ? undefined : { status: 401, reason }
}

function refuse(socket: Duplex, { status, reason }: Refusal): void {
  const names: Readonly<Record<number, string>> = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found' }
  socket.on('error', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${names[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\n` +
      `content-length: ${Buffer.byteLength(reason)}\r\n\r\n${reason}`,
  )
}

function pathOf(url = '/'): string {
  return url.split('?', 1)[0] ?? '/'
}

/** Whether only programs of this machine reach the address. */
function isLoopback(host: string): boolean {
  const family = isIP(host)
  return family !== 0 && LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')
