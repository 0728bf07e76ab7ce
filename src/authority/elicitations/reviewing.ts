import type { ServerKey } from '../../identity/index.js'
import type { ApprovalPolicy, PermissionProfile } from '../../permissions/index.js'
import { neverAsksFully, routesToReviewer } from '../approvals/order.js'
import type { Reviewer } from '../reviewer/contract.js'
import { type ReviewSettings, reviewCall } from '../reviewer/review.js'
import type { ApprovalsReviewer } from '../types.js'
import { acceptEmpty, DECLINE, declineStamped, fixedDecline, reviewedAnswer } from './answers.js'
import { readApprovalRequest } from './approval-request.js'
import type { Elicitation, ElicitationReview } from './authority.js'
import { type ElicitationAnswer, isEmptyForm, metaOf } from './request.js'

/** A host's turn, as far as questions of servers are judged by it. */
export interface ReviewingTurn {
  readonly threadId: string
  readonly policy: ApprovalPolicy
  readonly reviewer: ApprovalsReviewer
  /** Undefined: no captured authority. */
  readonly permissionsOf: (key: ServerKey) => PermissionProfile | undefined
  readonly primaryEnvironment: string | null
}

export interface ReviewingOptions {
  /** The turn that is going on; undefined outside one. */
  readonly turn: () => ReviewingTurn | undefined
  /** Absent: automatic reviews are not to be had. */
  readonly reviewer?: Reviewer
  readonly settings: ReviewSettings
}

/** A host's review of what servers ask: the table of the reference (authority, 6.2), with {@link reviewCall} behind it. */
export function reviewOfTurn({ turn, reviewer, settings }: ReviewingOptions): ElicitationReview {
  return {
    async answer(elicitation, signal) {
      const now = turn()
      if (now === undefined) return undefined
      const step = nextOf(elicitation, now, reviewer !== undefined)
      if (step !== 'review') return step === 'client' ? undefined : step
      const request = readApprovalRequest(elicitation.params)
      const permissions = now.permissionsOf(elicitation.key)
      // Said by the step already; a type can't.
      if (reviewer === undefined || request.kind !== 'request' || permissions === undefined) return fixedDecline()
      const { key, params, requestId, turnId } = elicitation
      const { tool, title, params: args } = request
      const { threadId, primaryEnvironment } = now
      const outcome = await reviewCall(
        reviewer,
        {
          call: { key, tool, ...(title !== undefined && { title }), arguments: args },
          targetItemId: reviewTarget(key, requestId),
          threadId,
          turnId,
          permissions,
          primaryEnvironment,
          synchronous: metaOf(params, 'codex_sensitive_action') === true,
        },
        settings,
        signal,
      )
      return reviewedAnswer(outcome)
    },
  }
}

export function reviewTarget(key: ServerKey, requestId: string | number): string {
  return `mcp_elicitation:${key.name}:${requestId}`
}

/** An answer at once, a review, or the client. */
function nextOf(
  { key, params }: Elicitation,
  { policy, reviewer, permissionsOf }: ReviewingTurn,
  hasReviewer: boolean,
): ElicitationAnswer | 'review' | 'client' {
  const request = readApprovalRequest(params)
  const permissions = permissionsOf(key)
  if (metaOf(params, 'codex_strict_auto_review') === true) {
    const persists = metaOf(params, 'persist') !== undefined
    return request.kind === 'request' && !persists && hasReviewer && permissions ? 'review' : fixedDecline()
  }
  if (policy === 'never') {
    const accepts = permissions !== undefined && neverAsksFully(policy, permissions) && isEmptyForm(params)
    return accepts ? acceptEmpty() : DECLINE
  }
  if (permissions === undefined) return DECLINE
  if (typeof policy === 'object' && !policy.granular.mcp_elicitations) return DECLINE
  if (!routesToReviewer(policy, reviewer) || request.kind === 'none') return 'client'
  return request.kind === 'request' && hasReviewer ? 'review' : declineStamped()
}
