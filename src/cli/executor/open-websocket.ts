import { serveExecutorWebSocket, type WebSocketExecutor, type WebSocketExecutorOptions } from '../../executor/index.js'
import { UsageError } from '../usage.js'

/** Listens, or tells why the address can't be had. @throws UsageError, UnsupportedError */
export async function openWebSocketExecutor(options: WebSocketExecutorOptions): Promise<WebSocketExecutor> {
  try {
    return await serveExecutorWebSocket(options)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const reason = REASONS.get(String(code))
    if (reason === undefined) throw error
    throw new UsageError(`cannot listen on ${options.host}, port ${options.port}: ${reason}`, { place: '--listen' })
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is taken'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['EAFNOSUPPORT', 'this machine has no such address'],
  ['EACCES', 'the port needs more rights'],
])
