import { isHandshake, isRead } from '../../protocol/index.js'

/** What one HTTP operation is, as far as its repetition goes. */
export interface RepeatFacts {
  readonly method: 'POST' | 'GET' | 'DELETE' | 'PUT'
  readonly rpcMethod?: string
  /** The tool is declared idempotent. */
  readonly isIdempotent?: boolean
}

/**
 * Whether the operation may be repeated once after a change of the credential or a 401: handshake, discovery, lists and
 * reads, streams; a tool call only when it is declared idempotent. Source: reference, runtime-auth 14.
 */
export function isReplaySafe({ method, rpcMethod, isIdempotent = false }: RepeatFacts): boolean {
  if (method === 'GET') return true
  if (method !== 'POST' || rpcMethod === undefined) return false
  return isHandshake(rpcMethod) || isRead(rpcMethod) || (rpcMethod === 'tools/call' && isIdempotent)
}
