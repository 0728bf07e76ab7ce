import type { JsonObject } from '../../../protocol/index.js'

/** Frames between the broker and its bridge that are no part of the session that passes there. */

export function isOurs(method: string): boolean {
  return method === LEAVING || method === GOODBYE
}

/** Bridge: the client has closed its end; what it asked before is still to be answered. Without it an end is an abort. */
export const LEAVING = 'reeve/leaving'

/** Broker: send no further request here. What is under way will be answered. */
export const GOODBYE = 'reeve/goodbye'

/**
 * Why: `handover`, a newer broker takes over and the session shall be carried on there at once; `stopped`, somebody
 * stopped the broker, and the next one is only started for the next request.
 */
export type GoodbyeReason = 'handover' | 'stopped'

export function goodbyeReason(params: JsonObject | undefined): GoodbyeReason {
  return params?.reason === 'handover' ? 'handover' : 'stopped'
}
