import { CancelledError, ReeveError, RpcError, TransportClosedError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonValue } from '../../protocol/index.js'
import type { ApprovalDecision, DecidedBy } from '../approvals/index.js'
import type { CallOutcome, PendingRecord } from './pending-record.js'
import type { AuditRecord } from './record.js'

/** What is known of a call before it is made. */
export interface AuditedFacts {
  readonly threadId: string
  /** Absent: the local user. */
  readonly principal?: string
  readonly turnId?: string | null
  readonly callId: string
  readonly operation: AuditRecord['operation']
  readonly key: ServerKey | null
  readonly executionEnvironment: string | null
  readonly tool: string
  readonly authority: string | null
  readonly arguments: JsonValue | undefined
}

/** One call while it is made: told what happens to it, it gives the record. */
export class AuditedCall {
  readonly #facts: AuditedFacts
  readonly #at = Date.now()
  readonly #began = performance.now()
  #arguments: JsonValue | undefined
  #argumentText: string | undefined
  #decision: AuditRecord['decision'] = null
  #decidedBy: DecidedBy | null = null
  #isSent = false

  constructor(facts: AuditedFacts) {
    this.#facts = facts
    this.#arguments = facts.arguments
  }

  decided(decision: ApprovalDecision['outcome'], by: DecidedBy): void {
    this.#decision = decision
    this.#decidedBy = by
  }

  /** Hooks gave it other arguments. */
  rewritten(args: JsonValue): void {
    this.#arguments = args
  }

  /** From here on something may leave this process. */
  sending(): void {
    this.#isSent = true
    // Now, since whoever gave the arguments may change them while the call is under way.
    this.#argumentText = textOf(this.#arguments)
  }

  answered(result: JsonValue): PendingRecord {
    return this.#record(ANSWERED[isErrorResult(result) ? 'error' : 'ok'], result)
  }

  failed(error: unknown): PendingRecord {
    return this.#record(this.#failure(error), undefined)
  }

  #failure(error: unknown): CallOutcome {
    const errorCode = error instanceof ReeveError ? error.code : 'internal'
    const none = { rpc: null, outcome: null, errorCode, rpcCode: null }
    if (error instanceof RpcError)
      return {
        ...none,
        transport: 'answered',
        rpc: 'error',
        rpcCode: Number.isFinite(error.rpcCode) ? error.rpcCode : null,
      }
    return { ...none, transport: this.#isSent && !isUnsent(error) ? 'failed' : 'unsent' }
  }

  #record(outcome: CallOutcome, result: JsonValue | undefined): PendingRecord {
    return {
      facts: this.#facts,
      at: this.#at,
      durationMs: Math.round((performance.now() - this.#began) * 1000) / 1000,
      decision: this.#decision,
      decidedBy: this.#decidedBy,
      outcome,
      argumentText: this.#isSent ? this.#argumentText : textOf(this.#arguments),
      // Now, since whoever gets the result may change it.
      resultText: textOf(result),
    }
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

const NO_ERROR = { transport: 'answered', rpc: 'result', errorCode: null, rpcCode: null } as const
const ANSWERED: Record<'ok' | 'error', CallOutcome> = {
  ok: { ...NO_ERROR, outcome: 'ok' },
  error: { ...NO_ERROR, outcome: 'error' },
}

/** Refused on the way out. */
const UNSENT: ReadonlySet<string> = new Set(['stale_catalog', 'not_connected', 'closed', 'invalid_arguments'])

function isUnsent(error: unknown): boolean {
  if (error instanceof TransportClosedError) return !error.sent
  if (error instanceof CancelledError) return error.data?.sent === false
  return error instanceof ReeveError && UNSENT.has(error.code)
}

function isErrorResult(result: JsonValue): boolean {
  return typeof result === 'object' && result !== null && !Array.isArray(result) && result.isError === true
}
