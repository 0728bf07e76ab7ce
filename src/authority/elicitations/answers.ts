import type { ReviewOutcome } from '../reviewer/review.js'
import { denialText, REVIEW_TIMED_OUT } from '../reviewer/texts.js'
import { asObject, type ElicitationAnswer } from './request.js'

/** Members of `_meta` by which a server knows that no person answered. */
const STAMP = Object.freeze({ approvals_reviewer: 'auto_review' })

export const DECLINE: ElicitationAnswer = Object.freeze({ action: 'decline' })

export function acceptEmpty(): ElicitationAnswer {
  return { action: 'accept', content: {} }
}

/** To a request for an approval that can't be reviewed as it came. */
export function declineStamped(): ElicitationAnswer {
  return { action: 'decline', _meta: { ...STAMP } }
}

/** Where only an automatic review counts and there was none (reference: authority, 6.3). */
export function fixedDecline(): ElicitationAnswer {
  return {
    action: 'decline',
    _meta: {
      message:
        'Automated review of this operation failed. It was not carried out: the user has to approve it explicitly before it is tried again.',
    },
  }
}

/** A review's outcome, for the server (reference: authority, 6.2). */
export function reviewedAnswer(outcome: ReviewOutcome): ElicitationAnswer {
  switch (outcome.status) {
    case 'approved':
      return { ...acceptEmpty(), _meta: { ...STAMP } }
    case 'denied':
      return { action: 'decline', _meta: { message: denialText(outcome.verdict.rationale), ...STAMP } }
    case 'timedOut':
      return { action: 'decline', _meta: { message: REVIEW_TIMED_OUT, ...STAMP } }
    case 'aborted':
      return { action: 'cancel', _meta: { ...STAMP } }
  }
}

/** Whether an answer can stand in a strict review: stamped, and either a bare yes or a no without content. */
export function isCanonicalReview(answer: ElicitationAnswer): boolean {
  const { action, content, _meta } = answer
  if (asObject(_meta)?.approvals_reviewer !== STAMP.approvals_reviewer) return false
  if (action === 'accept') {
    const given = asObject(content)
    return given !== undefined && Object.keys(given).length === 0
  }
  return (action === 'decline' || action === 'cancel') && content === undefined
}

/** A client's answer as the server gets it: a yes has a content, and nothing is sent as null. */
export function clientAnswer(answer: ElicitationAnswer): ElicitationAnswer {
  const { content, _meta, ...rest } = answer
  const given = content ?? (answer.action === 'accept' ? {} : undefined)
  return {
    ...rest,
    ...(given !== undefined && { content: given }),
    ...(_meta !== undefined && _meta !== null && { _meta }),
  }
}
