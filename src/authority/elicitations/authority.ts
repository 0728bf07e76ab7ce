import type { ApprovalMode } from '../../config/index.js'
import type { ServerKey } from '../../identity/index.js'
import type { ApprovalPolicy, PermissionProfile } from '../../permissions/index.js'
import type { ElicitationAnswer, ElicitationParams } from './request.js'

/** One question of a server. */
export interface Elicitation {
  readonly key: ServerKey
  /** The server's own JSON-RPC id. Two servers may use the same one. */
  readonly requestId: string | number
  readonly params: ElicitationParams
  /** Of the call that caused it, where that is known. */
  readonly toolMode?: ApprovalMode
  /** Null outside a turn. */
  readonly turnId: string | null
}

/**
 * Looks at a question before a person sees it: one method. No answer: the question goes on. A throw fails the request
 * (reference: authority, 5).
 */
export interface ElicitationReview {
  answer(elicitation: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer | undefined>
}

/**
 * What one question is judged by: as it held when the question came, so that no policy meets another's profile (reference:
 * authority, 6.6). Frozen.
 */
export interface ElicitationAuthority {
  readonly policy: ApprovalPolicy
  /** Of the environment that owns a server; undefined where no profile governs it. */
  readonly permissionsOf: (key: ServerKey) => PermissionProfile | undefined
  readonly review?: ElicitationReview
  /** Every question is declined. */
  readonly declinesAll: boolean
  /** Forms reach a person although nothing else is asked: a host with full access that has a person at hand. */
  readonly formsReachUser: boolean
  /** Called when a question begins to wait for a review or a person; the result when it no longer does. */
  readonly hold?: () => () => void
}
