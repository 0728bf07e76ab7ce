import { randomUUID } from 'node:crypto'
import type { PermissionProfile } from '../../permissions/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { askInTime } from '../approvals/ask-in-time.js'
import { type Reviewer, type ReviewRequest, readVerdict, type Verdict } from './contract.js'
import {
  type ActionOptions,
  contextEnvironment,
  type PlannedCall,
  plannedAction,
  reportedAction,
} from './planned-action.js'
import { completedReport, startedReport, warningReport } from './report.js'

/** How a review ended. */
export type ReviewOutcome =
  | { readonly status: 'approved' | 'denied'; readonly verdict: Verdict }
  | { readonly status: 'timedOut' | 'aborted' }

/** What a review is about, and under which authority. */
export interface ReviewSubject {
  readonly call: PlannedCall
  readonly targetItemId: string
  readonly threadId: string
  readonly turnId: string | null
  /** Of the environment that owns the server. */
  readonly permissions: PermissionProfile
  readonly primaryEnvironment: string | null
  /** Descriptions of tool and connector. */
  readonly untrusted?: readonly string[]
  readonly synchronous?: boolean
}

export interface ReviewSettings extends ActionOptions {
  /** Milliseconds that a reviewer has. Default {@link DEFAULT_REVIEW_TIMEOUT}. */
  readonly timeoutMs?: number
  /** Told how the review goes, in the notifications of the reference. */
  readonly report?: (method: string, params: JsonObject) => void
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** Milliseconds. */
export const DEFAULT_REVIEW_TIMEOUT = 90_000

/**
 * Has a call reviewed, within a bound (reference: authority, 5). An answer that is no verdict denies.
 *
 * @throws whatever the reviewer threw: the request fails
 */
export async function reviewCall(
  reviewer: Reviewer,
  subject: ReviewSubject,
  settings: ReviewSettings,
  signal: AbortSignal,
): Promise<ReviewOutcome> {
  const { now = Date.now, report = () => {}, timeoutMs = DEFAULT_REVIEW_TIMEOUT } = settings
  const { threadId, turnId, targetItemId } = subject
  const reviewId = randomUUID()
  const about = {
    threadId,
    turnId,
    targetItemId,
    reviewId,
    startedAtMs: now(),
    action: reportedAction(subject.call, settings),
  }
  report('item/autoApprovalReview/started', startedReport(about))
  const outcome = await answered(reviewer, requestOf(subject, reviewId, settings), timeoutMs, signal).catch((error) => {
    report('item/autoApprovalReview/completed', completedReport(about, now(), { status: 'aborted' }))
    throw error
  })
  report('guardianWarning', warningReport(threadId, outcome))
  report('item/autoApprovalReview/completed', completedReport(about, now(), outcome))
  return outcome
}

function requestOf(subject: ReviewSubject, reviewId: string, settings: ActionOptions): ReviewRequest {
  const { call, targetItemId, threadId, turnId, permissions, primaryEnvironment, untrusted = [] } = subject
  return Object.freeze({
    reviewId,
    targetItemId,
    threadId,
    turnId,
    key: call.key,
    action: plannedAction(call, settings),
    untrusted,
    contextEnvironment: contextEnvironment(call.key, primaryEnvironment),
    permissions,
    synchronous: subject.synchronous ?? false,
  })
}

/** The reviewer's verdict, unless its time or its caller ends it before. */
async function answered(
  reviewer: Reviewer,
  request: ReviewRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ReviewOutcome> {
  try {
    const said = await askInTime((stop) => reviewer.review(request, stop), timeoutMs, signal)
    return said === 'too_late' ? { status: 'timedOut' } : outcomeOf(said.answer)
  } catch (error) {
    if (signal.aborted) return { status: 'aborted' }
    throw error
  }
}

function outcomeOf(value: unknown): ReviewOutcome {
  const verdict = readVerdict(value) ?? UNREADABLE
  return { status: verdict.outcome === 'allow' ? 'approved' : 'denied', verdict }
}

const UNREADABLE: Verdict = Object.freeze({
  outcome: 'deny',
  riskLevel: null,
  userAuthorization: null,
  rationale: 'The reviewer gave no verdict.',
})
