import type { ConnectionEvent } from '../connections/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { ThreadProblem } from './problem-report.js'

export type ThreadEvent =
  | ConnectionEvent
  /** A selected environment came or went (reference: `thread/environment/connected`, `…/disconnected`). */
  | {
      readonly type: 'environment'
      readonly environment: string
      readonly status: 'connected' | 'disconnected'
      readonly error?: string
    }
  /** One plugin, root, name or environment that does not work as asked; once per cause, and again only after it was well. */
  | { readonly type: 'problem'; readonly problem: ThreadProblem }
  /**
   * How an automatic review goes (reference: authority, 5): `item/autoApprovalReview/started`, `guardianWarning`,
   * `item/autoApprovalReview/completed`, with the params of the reference.
   */
  | { readonly type: 'review'; readonly method: string; readonly params: JsonObject }
