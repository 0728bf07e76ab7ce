import type { ApprovalMode, ServerConfig } from '../../config/index.js'
import { CancelledError } from '../../errors.js'
import type { PermissionProfile } from '../../permissions/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Reviewer } from '../reviewer/contract.js'
import { type ReviewSettings, reviewCall } from '../reviewer/review.js'
import { denialText, REVIEW_TIMED_OUT } from '../reviewer/texts.js'
import type { ApprovalsReviewer, CallAuthority } from '../types.js'
import { readAnswer } from './answer.js'
import { askInTime } from './ask-in-time.js'
import { bindingOf, sameBinding } from './binding.js'
import { type Connector, ownConnector } from './connector.js'
import { type ApprovalDecision, cancelled, type Grant, refused, run } from './decision.js'
import { type ApprovalSubject, canBeRemembered, type DurableApprovals, SessionMemory } from './memory.js'
import { hintsOf, underManagedMode } from './modes.js'
import { granted, type PersistOffer, persistOffers } from './offer.js'
import { type CallFacts, nextStep, type PermissionHookOutcome } from './order.js'
import type { PromptFacts } from './prompt.js'
import { REFUSED } from './texts.js'

/** A call that is about to be made, with the authority that its step captured. */
export interface ApprovalCall {
  readonly authority: Pick<CallAuthority, 'key' | 'policy' | 'approval' | 'threadId' | 'turnId' | 'callId'>
  /** The authority's profile, read. */
  readonly permissions: PermissionProfile
  /** The raw name. */
  readonly tool: string
  readonly definition: JsonObject
  /** Absent: the call has none. */
  readonly arguments?: JsonObject
  /** What is managed for it; only tightens. */
  readonly managedMode?: ApprovalMode
  /** How the server is started or reached. */
  readonly endpoint: Pick<ServerConfig, 'transport' | 'environmentId'>
  /** Root id, or `plugin@marketplace`. */
  readonly pluginId: string | null
  readonly connector?: Connector
  /** `strict_auto_review` of the turn. */
  readonly strictReview?: boolean
  /** Default: a person. */
  readonly reviewer?: ApprovalsReviewer
  readonly primaryEnvironment: string | null
  /** `multi_environment_mcp`. */
  readonly multiEnvironment: boolean
}

/** Who can be asked. What is absent can't. A throw fails the call, which is then not made. */
export interface ApprovalAsks {
  readonly hooks?: (
    call: ApprovalCall,
    signal: AbortSignal,
  ) => Promise<Exclude<PermissionHookOutcome, { readonly kind: 'unasked' }>>
  readonly reviewer?: Reviewer
  /**
   * The answer in either form that `readAnswer` takes, or `NOT_ASKED`. Make the question with `promptParams` or
   * `fallbackPromptParams`.
   */
  readonly user?: (prompt: PromptFacts, signal: AbortSignal) => Promise<unknown>
}

export interface ApproverOptions {
  /** What outlives the conversation. Absent: nothing does, and nothing is offered to. */
  readonly durable?: DurableApprovals
  /** As the reference does, where it does less than it could (known-quirks, 33 and 37). Default false. */
  readonly compatibility?: boolean
  readonly review?: Omit<ReviewSettings, 'compatibility'>
  /** Milliseconds that a person has. Default {@link DEFAULT_ANSWER_TIMEOUT}. */
  readonly answerTimeoutMs?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** In place of an answer: whoever would have to be asked can't be, so that it is as if there was nobody. */
export const NOT_ASKED = Symbol('not asked')

/** Milliseconds. */
export const DEFAULT_ANSWER_TIMEOUT = 600_000

/** What was kept of a decision, and why it is less than was asked for. */
export interface Remembered {
  readonly remembered: PersistOffer | null
  readonly problem?: unknown
}

/**
 * Decides for one thread whether its calls run (reference: authority, 1 to 5), and remembers what it was allowed.
 *
 * @example
 * ```ts
 * const decision = await approver.decide(call, { user: (prompt, signal) => client.elicit(promptParams(prompt), signal) })
 * if (decision.outcome !== 'run') throw new Error(decision.text)
 * approver.remember(decision) // inside the lease, before the call is sent
 * ```
 */
export class Approver {
  readonly #options: ApproverOptions
  readonly #session = new SessionMemory()

  constructor(options: ApproverOptions = {}) {
    this.#options = options
  }

  /**
   * Nothing is remembered yet: that is for when the call is made (reference: authority, 4).
   *
   * @throws CancelledError when `signal` fires; whatever one of those who were asked threw
   */
  async decide(
    call: ApprovalCall,
    asks: ApprovalAsks,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ApprovalDecision> {
    let facts = this.#factsOf(call, { kind: 'unasked' })
    for (;;) {
      if (signal.aborted) throw new CancelledError()
      const step = nextStep(facts)
      switch (step.do) {
        case 'run':
          return run(step.by)
        case 'reject':
          return refused(step.by, step.text)
        case 'ask_hooks':
          facts = this.#factsOf(call, (await asks.hooks?.(call, signal)) ?? { kind: 'none' })
          break
        case 'review':
          return this.#reviewed(call, asks.reviewer, signal)
        case 'ask_user':
          return this.#asked(call, facts.mode, asks.user, signal)
      }
    }
  }

  /**
   * Keeps what a decision allows beyond its call. What is for good is on disk when this returns, and there alone, so that
   * it ends for all when it is revoked; what can't be kept there is kept for the session, and the reason given back.
   */
  remember({ grant }: ApprovalDecision): Remembered {
    if (grant === null) return { remembered: null }
    const { subject, binding, persist } = grant
    const { durable, now = Date.now } = this.#options
    try {
      if (persist === 'always' && durable !== undefined) {
        durable.put({ subject, binding, origin: 'answer', givenAt: now() })
        return { remembered: 'always' }
      }
    } catch (problem) {
      this.#session.add(subject, binding)
      return { remembered: 'session', problem }
    }
    this.#session.add(subject, binding)
    return { remembered: 'session' }
  }

  /** As things are now: while hooks run, an approval may be revoked. */
  #factsOf(call: ApprovalCall, hook: PermissionHookOutcome): CallFacts {
    const { authority, permissions, definition, strictReview, reviewer } = call
    const mode = underManagedMode(authority.approval, call.managedMode)
    return {
      strictReview: strictReview ?? false,
      policy: authority.policy ?? 'on-request',
      permissions,
      mode,
      hints: hintsOf(definition),
      remembered: this.#remembered(call, mode),
      hook,
      reviewer: reviewer ?? 'user',
    }
  }

  /** Modes that ask every time remember nothing. */
  #remembered(call: ApprovalCall, mode: ApprovalMode): CallFacts['remembered'] {
    const subject = subjectOf(call)
    if (mode !== 'auto' || !canBeRemembered(subject)) return null
    const binding = bindingOf(call.endpoint, call.definition)
    if (this.#session.has(subject, binding)) return 'session'
    const kept = this.#options.durable?.get(subject)
    return kept !== undefined && sameBinding(kept.binding, binding) ? 'always' : null
  }

  async #reviewed(call: ApprovalCall, reviewer: Reviewer | undefined, signal: AbortSignal): Promise<ApprovalDecision> {
    if (reviewer === undefined) return refused('nobody', REFUSED.noReviewer)
    const { authority, permissions, tool, definition, arguments: args, connector, primaryEnvironment } = call
    const { title, description, annotations } = definition
    const outcome = await reviewCall(
      reviewer,
      {
        call: {
          key: authority.key,
          tool,
          ...(typeof title === 'string' && { title }),
          ...(args && { arguments: args }),
          ...(annotations !== undefined && { annotations }),
          ...(connector && { connector }),
        },
        targetItemId: authority.callId,
        threadId: authority.threadId,
        turnId: authority.turnId,
        permissions,
        primaryEnvironment,
        untrusted: [description, connector?.description].filter((text) => typeof text === 'string'),
      },
      { ...this.#options.review, compatibility: this.#options.compatibility ?? false },
      signal,
    )
    switch (outcome.status) {
      case 'approved':
        return run('reviewer')
      case 'denied':
        return refused('reviewer', denialText(outcome.verdict.rationale))
      case 'timedOut':
        return refused('reviewer', REVIEW_TIMED_OUT)
      case 'aborted':
        return cancelled('reviewer', REFUSED.cancelled)
    }
  }

  async #asked(
    call: ApprovalCall,
    mode: ApprovalMode,
    ask: ApprovalAsks['user'],
    signal: AbortSignal,
  ): Promise<ApprovalDecision> {
    if (ask === undefined) return this.#unasked(call)
    const { durable, compatibility = false, answerTimeoutMs = DEFAULT_ANSWER_TIMEOUT } = this.#options
    const subject = subjectOf(call)
    const offers = persistOffers({ subject, mode, durable: durable !== undefined, compatibility })
    const said = await askInTime((stop) => ask(promptOf(call, offers), stop), answerTimeoutMs, signal)
    if (said === 'too_late') return refused('nobody', REFUSED.unanswered)
    if (said.answer === NOT_ASKED) return this.#unasked(call)
    const answer = readAnswer(said.answer, call.authority.callId)
    if (answer.kind !== 'allowed') return (answer.kind === 'rejected' ? refused : cancelled)('user', answer.text)
    const persist = granted(answer.persist, offers)
    return run('user', persist === null ? null : grantOf(call, persist))
  }

  #unasked(call: ApprovalCall): ApprovalDecision {
    return this.#givenBeforehand(call) ? run('operator') : refused('nobody', REFUSED.nobody)
  }

  /**
   * Where nobody can be asked, an operator's word of before counts in every mode that the user chose; what is managed for
   * him demands to be asked each time.
   */
  #givenBeforehand(call: ApprovalCall): boolean {
    if (call.managedMode === 'prompt' || call.managedMode === 'writes') return false
    const kept = this.#options.durable?.get(subjectOf(call))
    return kept?.origin === 'operator' && sameBinding(kept.binding, bindingOf(call.endpoint, call.definition))
  }
}

/** Which tool a call is of, for the memories. */
export function subjectOf({
  authority,
  tool,
  pluginId,
  connector,
}: Pick<ApprovalCall, 'tool' | 'pluginId' | 'connector'> & {
  readonly authority: Pick<CallAuthority, 'key'>
}): ApprovalSubject {
  const own = ownConnector(authority.key, connector)
  return Object.freeze({
    key: authority.key,
    pluginId,
    connectorId: own?.id ?? null,
    linkId: own?.linkId ?? null,
    tool,
  })
}

function grantOf(call: ApprovalCall, persist: PersistOffer): Grant {
  return Object.freeze({ subject: subjectOf(call), binding: bindingOf(call.endpoint, call.definition), persist })
}

function promptOf(call: ApprovalCall, offers: readonly PersistOffer[]): PromptFacts {
  const { authority, tool, definition, arguments: args, connector, multiEnvironment } = call
  const { threadId, turnId, callId, key } = authority
  return Object.freeze({
    threadId,
    turnId,
    callId,
    key,
    tool,
    definition,
    ...(args && { arguments: args }),
    ...(connector && { connector }),
    offers,
    multiEnvironment,
  })
}
