import { randomUUID } from 'node:crypto'
import { answerElicitation, type ElicitationAuthority, reviewOfTurn } from '../authority/index.js'
import type { PermissionAuthority } from '../catalog/index.js'
import type { ServerRequestHandler } from '../connections/index.js'
import type { ServerKey } from '../identity/index.js'
import type { Profile } from './composition.js'
import { permissionsOf } from './judged-by.js'
import type { ThreadOptions } from './types.js'

/** What a thread judges the questions of its servers by. */
export interface QuestionsHost {
  readonly threadId: string
  readonly primaryEnvironment: () => string | null
  readonly authorityOf: (key: ServerKey) => PermissionAuthority<Profile>
  readonly options: Pick<ThreadOptions, 'approvalPolicy' | 'compatibility' | 'reviewer'>
}

/**
 * Answers what servers ask: a server that no profile governs asks nobody anything (reference: catalog, 6). Under a policy
 * of the thread's own, elicitations go through the chain of the reference (authority, 6.1) before they reach `answer`;
 * without one they reach it as they are.
 */
export function judgedQuestions(answer: ServerRequestHandler, host: QuestionsHost): ServerRequestHandler {
  const authority = authorityUnder(host)
  return async (request, signal) => {
    const { key, method, params = {} } = request
    if (method !== 'elicitation/create') return answer(request, signal)
    if (host.authorityOf(key).kind === 'none') return { action: 'decline' }
    if (authority === undefined) return answer(request, signal)
    // A connection does not tell the server's own id, and no other is needed here.
    const elicitation = { key, requestId: randomUUID(), params, turnId: null }
    const channel = { isOpen: true, put: (_: unknown, stop: AbortSignal) => answer(request, stop) }
    return (await answerElicitation(elicitation, authority, channel, signal)).answer
  }
}

function authorityUnder(host: QuestionsHost): ElicitationAuthority | undefined {
  const { threadId, authorityOf, options } = host
  const { approvalPolicy: policy, reviewer, compatibility = false } = options
  if (policy === undefined) return undefined
  const profileOf = (key: ServerKey) => permissionsOf(authorityOf(key))
  const turn = () => ({
    threadId,
    policy,
    reviewer: reviewer === undefined ? ('user' as const) : ('auto_review' as const),
    permissionsOf: profileOf,
    primaryEnvironment: host.primaryEnvironment(),
  })
  return Object.freeze({
    policy,
    permissionsOf: profileOf,
    review: reviewOfTurn({ turn, ...(reviewer && { reviewer }), settings: { compatibility } }),
    declinesAll: false,
    formsReachUser: false,
  })
}
