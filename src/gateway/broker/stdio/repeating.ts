import type { JsonValue } from '../../../protocol/index.js'

/**
 * Requests that may be asked a second time when nobody knows whether the first was heard: they read, or set what is set
 * the same way again. Never a tool call, and nothing that isn't known here.
 */
const SAFE: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
])

export function isSafeToRepeat(method: string): boolean {
  return SAFE.has(method)
}

/** A request that is answered when it ends, by either side. It does not count as work under way. */
export const STAYS_OPEN = 'subscriptions/listen'

/** What a client is told about a request that a broker took and nobody will answer. */
export function lostAnswer(id: JsonValue, method: string): string {
  const message = `the broker ended before it answered ${method}: whether it was carried out is not known`
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message, data: { code: 'broker_lost' } } })
}

/** What a client is told about a request that never left, for no broker could be reached. */
export function unreachableAnswer(id: JsonValue): string {
  const message = "the broker can't be reached"
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message, data: { code: 'broker_unreachable' } } })
}

/** What takes back a question of a broker that ended. */
export function cancelledQuestion(id: JsonValue): string {
  const params = { requestId: id, reason: 'the broker that asked has ended' }
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
}
