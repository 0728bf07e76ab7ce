import type { JsonObject } from '../../protocol/index.js'
import type { Verdict } from './contract.js'
import type { ReviewOutcome } from './review.js'

/** What both reports of a review begin with. */
export interface ReportedReview {
  readonly threadId: string
  readonly turnId: string | null
  readonly startedAtMs: number
  readonly reviewId: string
  readonly targetItemId: string
  readonly action: JsonObject
}

/** Params of `item/autoApprovalReview/started`, in the order of the reference (authority, 5). */
export function startedReport({
  threadId,
  turnId,
  startedAtMs,
  reviewId,
  targetItemId,
  action,
}: ReportedReview): JsonObject {
  const review = reviewMembers('inProgress')
  return { threadId, turnId, startedAtMs, reviewId, targetItemId, review, action }
}

/** Params of `item/autoApprovalReview/completed`. */
export function completedReport(about: ReportedReview, completedAtMs: number, outcome: ReviewOutcome): JsonObject {
  const { threadId, turnId, startedAtMs, reviewId, targetItemId, action } = about
  return {
    threadId,
    turnId,
    startedAtMs,
    completedAtMs,
    reviewId,
    targetItemId,
    decisionSource: 'agent',
    review: reviewMembers(outcome.status, verdictOf(outcome)),
    action,
  }
}

/** Params of `guardianWarning`. */
export function warningReport(threadId: string, outcome: ReviewOutcome): JsonObject {
  return { threadId, message: warningText(outcome) }
}

function warningText(outcome: ReviewOutcome): string {
  const verdict = verdictOf(outcome)
  if (verdict === undefined) {
    return `Automatic approval review ${outcome.status === 'timedOut' ? 'timed out' : 'was given up'}`
  }
  const { riskLevel, userAuthorization, rationale } = verdict
  const facts = `(risk: ${riskLevel ?? 'unknown'}, authorization: ${userAuthorization ?? 'unknown'})`
  return `Automatic approval review ${outcome.status} ${facts}${rationale === null ? '' : `: ${rationale}`}`
}

function verdictOf(outcome: ReviewOutcome): Verdict | undefined {
  return 'verdict' in outcome ? outcome.verdict : undefined
}

function reviewMembers(status: ReviewOutcome['status'] | 'inProgress', verdict?: Verdict): JsonObject {
  return {
    status,
    riskLevel: verdict?.riskLevel ?? null,
    userAuthorization: verdict?.userAuthorization ?? null,
    rationale: verdict?.rationale ?? null,
  }
}
