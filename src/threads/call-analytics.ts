import { randomUUID } from 'node:crypto'
import { isHostOwnedApps } from '../catalog/index.js'
import type { CapturedServer } from '../connections/index.js'
import {
  ApprovalRequiredError,
  CancelledError,
  FileParameterError,
  FirstPartyAuthError,
  HookRefusedError,
  InvalidArgumentsError,
  StaleCatalogError,
} from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { CallRecord } from './call-audit.js'
import type { OwningAuth } from './owning-auth.js'
import type { ModelCallFacts, Turn } from './turn-meta.js'
import type { StepTool } from './types.js'

/** How a call was let through or not; the names are those of the service (reference: surfaces, 3.3). */
export type FinalApproval =
  | 'unknown'
  | 'config_allowed'
  | 'policy_forbidden'
  | 'guardian_approved'
  | 'guardian_denied'
  | 'guardian_aborted'
  | 'user_approved'
  | 'user_denied'
  | 'user_aborted'

export interface CallOutcome {
  readonly status: 'completed' | 'failed' | 'rejected' | 'interrupted'
  readonly failure: 'tool_error' | 'approval_denied' | 'approval_aborted' | 'policy_forbidden' | null
  /** The request itself failed: transport or protocol. False for a result with `isError`. */
  readonly isMcpError: boolean
}

/** What is told of a model's call once it is over. Nothing of its arguments or its result. */
export interface ToolCallFacts {
  readonly threadId: string
  readonly sessionId: string
  /** Of the turn that the step was taken for: `turn_id`, `root_turn_id`, …; empty without one. */
  readonly turn: JsonObject
  /** The model's own id, else one that was made up. */
  readonly callId: string
  readonly responseId: string | null
  readonly key: ServerKey
  readonly tool: string
  readonly pluginId: string | null
  readonly connectorId: string | null
  /** Milliseconds since 1970. */
  readonly startedAtMs: number
  readonly completedAtMs: number
  /** Milliseconds from when it was sent; null: it never was. */
  readonly executionMs: number | null
  readonly approval: FinalApproval
  readonly reviews: { readonly guardian: number; readonly user: number }
  readonly outcome: CallOutcome
}

/** Where the calls of one thread are told. Never throws, and never keeps a call waiting. */
export interface AnalyticsSink {
  /** Whether anything is told now. */
  readonly isOn: boolean
  toolCall(facts: ToolCallFacts): void
  /** Delivers what it can within a short time. */
  close(): Promise<void>
}

/** A thread, for what is told of its calls: its own auth and mode, never those of whoever started or resumed it. */
export interface AnalyticsThread {
  readonly id: string
  readonly auth: OwningAuth | undefined
  readonly client: JsonObject
}

/** Undefined: nothing is ever told. */
export type AnalyticsSource = (thread: AnalyticsThread) => AnalyticsSink | undefined

/** A model's call, as it is about to be made. */
export interface CallToTell {
  readonly server: Pick<CapturedServer, 'key' | 'config' | 'source'>
  readonly tool: Pick<StepTool, 'tool' | 'definition'>
  readonly turn: Turn | undefined
  readonly facts: ModelCallFacts | undefined
}

/** Tells of each model's call of one thread, once, whatever becomes of it. */
export class CallAnalytics {
  readonly #threadId: string
  readonly #sink: AnalyticsSink | undefined

  constructor(threadId: string, sink: AnalyticsSink | undefined) {
    this.#threadId = threadId
    this.#sink = sink
  }

  /** @param make makes the call, and says of itself what it says to `record` */
  async tool(
    call: CallToTell,
    record: CallRecord,
    make: (record: CallRecord) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const sink = this.#sink
    if (sink?.isOn !== true) return make(record)
    const watched = new WatchedCall(record)
    try {
      const result = await make(watched)
      sink.toolCall(this.#facts(call, watched, outcomeOf(result)))
      return result
    } catch (error) {
      sink.toolCall(this.#facts(call, watched, failureOf(error, watched)))
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#sink?.close()
  }

  #facts(
    { server, tool: { tool, definition }, turn, facts }: CallToTell,
    watched: WatchedCall,
    outcome: CallOutcome,
  ): ToolCallFacts {
    const { key, source } = server
    return Object.freeze({
      threadId: this.#threadId,
      sessionId: turn?.sessionId ?? this.#threadId,
      turn: turn?.metadata ?? {},
      callId: facts?.callId ?? randomUUID(),
      responseId: typeof facts?.responseId === 'string' ? facts.responseId : null,
      key,
      tool,
      pluginId: 'plugin' in source ? source.plugin.id : null,
      connectorId: isHostOwnedApps(server) ? connectorOf(definition) : null,
      ...watched.times(),
      approval: watched.approval,
      reviews: watched.reviews,
      outcome,
    })
  }
}

/** Passes on what a call says of itself, and keeps what is told of it. */
class WatchedCall {
  readonly #record: CallRecord
  readonly #startedAtMs = Date.now()
  readonly #began = performance.now()
  #sentAt: number | undefined
  approval: FinalApproval = 'unknown'
  reviews = { guardian: 0, user: 0 }

  constructor(record: CallRecord) {
    this.#record = record
  }

  get isSent(): boolean {
    return this.#sentAt !== undefined
  }

  decided(...decision: Parameters<NonNullable<CallRecord>['decided']>): void {
    const [outcome, by] = decision
    this.approval = approvalOf(outcome, by)
    this.reviews = { guardian: by === 'reviewer' ? 1 : 0, user: by === 'user' ? 1 : 0 }
    this.#record?.decided(outcome, by)
  }

  rewritten(...args: Parameters<NonNullable<CallRecord>['rewritten']>): void {
    this.#record?.rewritten(...args)
  }

  sending(): void {
    this.#sentAt ??= performance.now()
    this.#record?.sending()
  }

  /** By a clock that nobody sets. */
  times(): Pick<ToolCallFacts, 'startedAtMs' | 'completedAtMs' | 'executionMs'> {
    const now = performance.now()
    const startedAtMs = this.#startedAtMs
    return {
      startedAtMs,
      completedAtMs: startedAtMs + Math.round(now - this.#began),
      executionMs: this.#sentAt === undefined ? null : Math.round(now - this.#sentAt),
    }
  }
}

type Decision = Parameters<NonNullable<CallRecord>['decided']>

/** Where nobody was asked, it is not known (vectors: analytics, "call without approval"). */
function approvalOf(outcome: Decision[0], by: Decision[1]): FinalApproval {
  if (by === 'reviewer' || by === 'user') {
    const who = by === 'reviewer' ? 'guardian' : 'user'
    return outcome === 'run' ? `${who}_approved` : outcome === 'rejected' ? `${who}_denied` : `${who}_aborted`
  }
  if (outcome !== 'run') return outcome === 'cancelled' ? 'user_aborted' : 'policy_forbidden'
  return by === 'mode' || by === 'full_access' ? 'unknown' : 'config_allowed'
}

function outcomeOf({ isError }: JsonObject): CallOutcome {
  return isError === true
    ? { status: 'failed', failure: 'tool_error', isMcpError: false }
    : { status: 'completed', failure: null, isMcpError: false }
}

/** What fails between the lease and the wire, and is no fault of transport or protocol. */
const UNSENT = [FileParameterError, FirstPartyAuthError, InvalidArgumentsError, StaleCatalogError]

function failureOf(error: unknown, { approval, isSent }: WatchedCall): CallOutcome {
  if (error instanceof CancelledError) return { status: 'interrupted', failure: null, isMcpError: false }
  if (error instanceof ApprovalRequiredError || error instanceof HookRefusedError) {
    const isAborted = approval === 'user_aborted' || approval === 'guardian_aborted'
    const failure = isAborted
      ? 'approval_aborted'
      : approval === 'policy_forbidden'
        ? 'policy_forbidden'
        : 'approval_denied'
    return { status: 'rejected', failure, isMcpError: false }
  }
  return {
    status: 'failed',
    failure: 'tool_error',
    isMcpError: isSent && !UNSENT.some((kind) => error instanceof kind),
  }
}

function connectorOf({ _meta: meta }: JsonObject): string | null {
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return null
  const id = Object.hasOwn(meta, 'connector_id') ? meta.connector_id : undefined
  return typeof id === 'string' && id.trim() !== '' ? id.trim() : null
}
