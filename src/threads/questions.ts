import { randomUUID } from 'node:crypto'
import {
  answerElicitation,
  type CallAuthority,
  type ElicitationAuthority,
  type ReviewSettings,
  reviewOfTurn,
} from '../authority/index.js'
import type { PermissionAuthority } from '../catalog/index.js'
import type { ServerRequestHandler } from '../connections/index.js'
import type { ServerKey } from '../identity/index.js'
import type { ApprovalPolicy, PermissionProfile } from '../permissions/index.js'
import type { Profile } from './composition.js'
import { ELICIT, type HostChannel } from './host-channel.js'
import { causeOf } from './issued-call.js'
import { permissionsOf, readProfile } from './judged-by.js'
import type { ThreadOptions } from './types.js'

/** What a thread judges the questions of its servers by. */
export interface QuestionsHost {
  readonly threadId: string
  readonly channel: Pick<HostChannel, 'ask'>
  readonly primaryEnvironment: () => string | null
  /** As things are now. */
  readonly authorityOf: (key: ServerKey) => PermissionAuthority<Profile>
  /** That of the thread, as the requirements let it be now. */
  readonly policy: () => ApprovalPolicy | null
  readonly review: ReviewSettings
  /** Called when a question begins to wait for a review or a person; the result when it no longer does. */
  readonly hold: () => () => void
  readonly options: Pick<ThreadOptions, 'reviewer' | 'elicitations'>
}

/**
 * Answers what servers ask. A question is judged by the authority of the call that caused it, and by that of the server's
 * owner as it is now where no call is known to have; a server that no profile governs asks nobody anything (reference:
 * catalog, 6). Under a policy, elicitations go through the chain of the reference (authority, 6.1) before they reach the
 * host; without one they reach it as they are.
 */
export function judgedQuestions(host: QuestionsHost): ServerRequestHandler {
  const { channel, options } = host
  return async (raw, signal) => {
    const { message, issued } = causeOf(raw)
    const { key, method, params = {}, requestId = randomUUID() } = message
    const turnId = issued?.turnId ?? null
    if (method !== ELICIT) return channel.ask(message, turnId, signal)
    const permissions = issued === undefined ? permissionsOf(host.authorityOf(key)) : readProfile(issued.profile)
    if (permissions === undefined || options.elicitations?.declineAll === true) return { action: 'decline' }
    const policy = issued === undefined ? host.policy() : issued.policy
    if (policy === null) return channel.ask(message, turnId, signal)
    const elicitation = { key, requestId, params, turnId, ...(issued && { toolMode: issued.approval }) }
    const judge = authorityOf({ policy, permissions, issued }, host)
    const ask = { isOpen: true, put: (_: unknown, stop: AbortSignal) => channel.ask(message, turnId, stop) }
    return (await answerElicitation(elicitation, judge, ask, signal)).answer
  }
}

interface Judgement {
  readonly policy: ApprovalPolicy
  readonly permissions: PermissionProfile
  readonly issued: CallAuthority | undefined
}

/** One value for one question: whatever changes while it waits is the next one's. */
function authorityOf(
  { policy, permissions, issued }: Judgement,
  { threadId, primaryEnvironment, review: settings, hold, options }: QuestionsHost,
): ElicitationAuthority {
  const { reviewer, elicitations } = options
  const turn = Object.freeze({
    threadId,
    policy,
    reviewer: issued?.reviewer ?? (reviewer === undefined ? ('user' as const) : ('auto_review' as const)),
    permissionsOf: () => permissions,
    primaryEnvironment: primaryEnvironment(),
  })
  return Object.freeze({
    policy,
    permissionsOf: () => permissions,
    review: reviewOfTurn({ turn: () => turn, ...(reviewer && { reviewer }), settings }),
    declinesAll: false,
    formsReachUser: elicitations?.formsReachUser ?? false,
    hold,
  })
}
