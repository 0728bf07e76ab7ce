import { isHandshake, isRepeatable, type JsonValue } from '../../../protocol/index.js'

/** A request that is answered when it ends, by either side. It does not count as work under way. */
export const STAYS_OPEN = 'subscriptions/listen'

/** Whether another broker may be asked when nobody knows whether the one that ended heard the request. */
export function isSafeToRepeat(method: string): boolean {
  return isRepeatable(method) || isHandshake(method) || method === STAYS_OPEN
}

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
