import { CancelledError, ReeveError, RpcError, TransportClosedError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonValue } from '../../protocol/index.js'
import type { ApprovalDecision, DecidedBy } from '../approvals/index.js'
import type { AuditRecord } from './record.js'

/** What is known of a call before it is made. */
export interface AuditedFacts {
  readonly threadId: string
  readonly turnId?: string | null
  readonly callId: string
  readonly operation: AuditRecord['operation']
  readonly key: ServerKey | null
  readonly executionEnvironment: string | null
  readonly tool: string
  readonly authority: string | null
  readonly arguments: JsonValue | undefined
}

/** A record whose texts are still to be digested. */
export type PendingRecord = Omit<AuditRecord, keyof Digested> & {
  readonly argumentText: string | undefined
  readonly resultText: string | undefined
}

type Digested = Pick<
  AuditRecord,
  'argumentBytes' | 'resultBytes' | 'argumentDigest' | 'resultDigest' | 'arguments' | 'result'
>

type Outcome = Pick<AuditRecord, 'transport' | 'rpc' | 'outcome' | 'errorCode' | 'rpcCode'>

/** One call while it is made: told what happens to it, it gives the record. */
export class AuditedCall {
  readonly #facts: AuditedFacts
  readonly #at = Date.now()
  readonly #began = performance.now()
  #arguments: JsonValue | undefined
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
  }

  answered(result: JsonValue): PendingRecord {
    return this.#record(ANSWERED[isErrorResult(result) ? 'error' : 'ok'], result)
  }

  failed(error: unknown): PendingRecord {
    return this.#record(this.#failure(error), undefined)
  }

  #failure(error: unknown): Outcome {
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

  #record(outcome: Outcome, result: JsonValue | undefined): PendingRecord {
    const { key, turnId, threadId, callId, operation, executionEnvironment, tool, authority } = this.#facts
    return {
      at: this.#at,
      durationMs: performance.now() - this.#began,
      threadId,
      turnId: turnId ?? null,
      callId,
      operation,
      server: key === null ? null : key.name,
      environment: key === null ? null : key.environment,
      executionEnvironment,
      tool,
      authority,
      decision: this.#decision,
      decidedBy: this.#decidedBy,
      ...outcome,
      // Now, since whoever gets the result may change it.
      argumentText: this.#arguments === undefined ? undefined : JSON.stringify(this.#arguments),
      resultText: result === undefined ? undefined : JSON.stringify(result),
    }
  }
}

const NO_ERROR = { transport: 'answered', rpc: 'result', errorCode: null, rpcCode: null } as const
const ANSWERED: Record<'ok' | 'error', Outcome> = {
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
