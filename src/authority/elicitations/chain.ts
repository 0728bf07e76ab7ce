import { clientAnswer, DECLINE, fixedDecline, isCanonicalReview } from './answers.js'
import type { Elicitation, ElicitationAuthority } from './authority.js'
import type { ElicitationAnswer } from './request.js'
import { type AutoReason, routeElicitation } from './route.js'
import type { ElicitationChannel } from './router.js'

/** Who answered a question. */
export type ElicitationDecider = 'automatic' | 'reviewer' | 'user'

export interface DecidedElicitation {
  readonly by: ElicitationDecider
  readonly answer: ElicitationAnswer
  /** Why nobody was asked; absent where somebody was. */
  readonly reason?: AutoReason | 'no_channel' | 'strict_review_failed'
}

/**
 * Answers a server's question by the chain of the reference (authority, 6.1): what decides itself, then the reviewer,
 * then a person. Judged by the authority that held when it came.
 *
 * @throws what the reviewer threw, except in a strict review, where that is a fixed decline; ClosedError or
 * CancelledError when the question could not wait for its answer
 */
export async function answerElicitation(
  elicitation: Elicitation,
  authority: ElicitationAuthority | undefined,
  channel: ElicitationChannel,
  signal: AbortSignal,
): Promise<DecidedElicitation> {
  const route = routeElicitation(elicitation, authority)
  if (route.to === 'answer') return decided('automatic', route.answer, route.reason)
  const release = authority?.hold?.()
  try {
    if (route.to === 'strict_review') return await strictlyReviewed(elicitation, authority, signal)
    const reviewed = route.to === 'review' ? await authority?.review?.answer(elicitation, signal) : undefined
    return reviewed === undefined ? await asked(elicitation, channel, signal) : decided('reviewer', reviewed)
  } finally {
    release?.()
  }
}

/** Only a review's own answer counts; no person is ever asked (reference: authority, 6.3). */
async function strictlyReviewed(
  elicitation: Elicitation,
  authority: ElicitationAuthority | undefined,
  signal: AbortSignal,
): Promise<DecidedElicitation> {
  const failed = decided('automatic', fixedDecline(), 'strict_review_failed')
  try {
    const answer = await authority?.review?.answer(elicitation, signal)
    return answer !== undefined && isCanonicalReview(answer) ? decided('reviewer', answer) : failed
  } catch {
    // The server is told that the review failed; why is the reviewer's to report.
    return failed
  }
}

async function asked(
  { key, turnId, params }: Elicitation,
  channel: ElicitationChannel,
  signal: AbortSignal,
): Promise<DecidedElicitation> {
  if (!channel.isOpen) return decided('automatic', DECLINE, 'no_channel')
  return decided('user', clientAnswer(await channel.put({ key, turnId, params }, signal)))
}

function decided(
  by: ElicitationDecider,
  answer: ElicitationAnswer,
  reason?: DecidedElicitation['reason'],
): DecidedElicitation {
  return Object.freeze({ by, answer, ...(reason !== undefined && { reason }) })
}
