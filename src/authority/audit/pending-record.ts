import { maskJsonText } from '../../config/index.js'
import { type DecidedBy, LOCAL_PRINCIPAL } from '../approvals/index.js'
import type { AuditedFacts } from './audited-call.js'
import { sha256 } from './digest.js'
import type { AuditRecord } from './record.js'

/** Characters of arguments or of a result that are kept whole; what is longer is kept by its digest. */
export const WHOLE_CHARACTERS = 1024 * 1024

export type CallOutcome = Pick<AuditRecord, 'transport' | 'rpc' | 'outcome' | 'errorCode' | 'rpcCode'>

/** A call that has ended, and whose texts are still to be digested. */
export interface PendingRecord {
  readonly facts: AuditedFacts
  readonly at: number
  readonly durationMs: number
  readonly decision: AuditRecord['decision']
  readonly decidedBy: DecidedBy | null
  readonly outcome: CallOutcome
  readonly argumentText: string | undefined
  readonly resultText: string | undefined
}

/** @param isWhole keeps the texts, too, with secrets masked */
export function digested(record: PendingRecord, isWhole: boolean): AuditRecord {
  const { facts, outcome, argumentText, resultText } = record
  return {
    at: record.at,
    durationMs: record.durationMs,
    threadId: facts.threadId,
    principal: facts.principal ?? LOCAL_PRINCIPAL,
    turnId: facts.turnId ?? null,
    callId: facts.callId,
    operation: facts.operation,
    server: facts.key === null ? null : facts.key.name,
    environment: facts.key === null ? null : facts.key.environment,
    executionEnvironment: facts.executionEnvironment,
    tool: facts.tool,
    authority: facts.authority,
    decision: record.decision,
    decidedBy: record.decidedBy,
    transport: outcome.transport,
    rpc: outcome.rpc,
    outcome: outcome.outcome,
    errorCode: outcome.errorCode,
    rpcCode: outcome.rpcCode,
    argumentBytes: argumentText === undefined ? null : Buffer.byteLength(argumentText),
    resultBytes: resultText === undefined ? null : Buffer.byteLength(resultText),
    argumentDigest: argumentText === undefined ? null : sha256(argumentText),
    resultDigest: resultText === undefined ? null : sha256(resultText),
    arguments: isWhole ? whole(argumentText) : null,
    result: isWhole ? whole(resultText) : null,
  }
}

function whole(text: string | undefined): string | null {
  return text === undefined || text.length > WHOLE_CHARACTERS ? null : maskJsonText(text)
}
