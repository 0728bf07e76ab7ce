/** What one HTTP operation is, as far as its repetition goes. */
export interface RepeatFacts {
  readonly method: 'POST' | 'GET' | 'DELETE' | 'PUT'
  readonly rpcMethod?: string
  /** The tool is declared idempotent. */
  readonly isIdempotent?: boolean
}

const REPLAY_SAFE: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
])

/**
 * Whether the operation may be repeated once after a change of the credential or a 401: handshake, discovery, lists and
 * reads, streams; a tool call only when it is declared idempotent. Source: reference, runtime-auth 14.
 */
export function isReplaySafe({ method, rpcMethod, isIdempotent = false }: RepeatFacts): boolean {
  if (method === 'GET') return true
  if (method !== 'POST' || rpcMethod === undefined) return false
  return REPLAY_SAFE.has(rpcMethod) || (rpcMethod === 'tools/call' && isIdempotent)
}
