import type { DecidedBy } from '../approvals/index.js'

/** What became of a call on its way to the server and back. `unsent`: nothing left this process. */
export type TransportOutcome = 'unsent' | 'answered' | 'failed'

/** One call, as it is kept. Times are milliseconds since 1970. */
export interface AuditRecord {
  readonly at: number
  readonly durationMs: number
  readonly threadId: string
  /** For whom; null in records of before there were several: the local user. */
  readonly principal: string | null
  readonly turnId: string | null
  readonly callId: string
  /** `tool`: `tools/call` to one server; `function`: a resource function; the others: requests that call no tool. */
  readonly operation: 'tool' | 'function' | 'resource' | 'prompt' | 'completion'
  /** Null: a function that asks all servers. */
  readonly server: string | null
  readonly environment: string | null
  readonly executionEnvironment: string | null
  /** The server's own name of the tool or prompt; the method, where that has none. */
  readonly tool: string
  /** `sha256:…` of the authority that the call was issued with; null where none is known. */
  readonly authority: string | null
  /** Null: it failed before anybody decided. */
  readonly decision: 'run' | 'rejected' | 'cancelled' | null
  readonly decidedBy: DecidedBy | null
  readonly transport: TransportOutcome
  /** Null: no answer. */
  readonly rpc: 'result' | 'error' | null
  /** Null: no result. */
  readonly outcome: 'ok' | 'error' | null
  /** The code of the error, never its text: that may hold what a server or a user said. */
  readonly errorCode: string | null
  readonly rpcCode: number | null
  /** Bytes of the JSON text; null: none. */
  readonly argumentBytes: number | null
  readonly resultBytes: number | null
  /** `sha256:…` of the compact JSON text, members in the order in which they were sent. */
  readonly argumentDigest: string | null
  readonly resultDigest: string | null
  /** The JSON text with secrets masked, where the configuration asks for it. */
  readonly arguments: string | null
  readonly result: string | null
}

export interface StoredAuditRecord extends AuditRecord {
  /** Ascends with the order in which records were written. */
  readonly id: number
}

/** The outcome in one word, the first that applies. */
export type AuditOutcome = 'refused' | 'transport_error' | 'rpc_error' | 'tool_error' | 'ok'

const DECIDES: Readonly<Record<DecidedBy, true>> = {
  full_access: true,
  mode: true,
  session_memory: true,
  durable_memory: true,
  operator: true,
  hook: true,
  policy: true,
  reviewer: true,
  user: true,
  nobody: true,
}

/** All who can decide about a call. */
export const DECIDERS: readonly DecidedBy[] = Object.keys(DECIDES).filter((by): by is DecidedBy =>
  Object.hasOwn(DECIDES, by),
)

export const AUDIT_DECISIONS: readonly NonNullable<AuditRecord['decision']>[] = ['run', 'rejected', 'cancelled']

export const AUDIT_OUTCOMES: readonly AuditOutcome[] = ['ok', 'tool_error', 'rpc_error', 'transport_error', 'refused']

export function auditOutcome({
  transport,
  rpc,
  outcome,
}: Pick<AuditRecord, 'transport' | 'rpc' | 'outcome'>): AuditOutcome {
  if (transport === 'unsent') return 'refused'
  if (transport === 'failed') return 'transport_error'
  if (rpc === 'error') return 'rpc_error'
  return outcome === 'error' ? 'tool_error' : 'ok'
}

export interface AuditFilter {
  readonly server?: string
  /** Null: servers of no environment. */
  readonly environment?: string | null
  readonly tool?: string
  readonly principal?: string
  /** Milliseconds since 1970. */
  readonly since?: number
  readonly outcome?: AuditOutcome
  readonly decision?: NonNullable<AuditRecord['decision']>
  readonly decidedBy?: DecidedBy
  readonly threadId?: string
  /** Only those written after this one. */
  readonly afterId?: number
  /** The newest so many, oldest first. */
  readonly limit: number
}

/** Where records are kept. */
export interface AuditStore {
  /** False where nothing outlives the process. */
  readonly isDurable: boolean
  /**
   * All or none. `now`: on disk when it returns; `soon`: safe from the end of this process, not from that of the machine.
   *
   * @throws ReeveError `state_not_written`
   */
  append(records: readonly AuditRecord[], durability: 'now' | 'soon'): void
  /** @throws ReeveError `state_not_read` */
  query(filter: AuditFilter): readonly StoredAuditRecord[]
  /** Bytes that all records take, about. */
  size(): number
  /**
   * Removes what is older than `before`, then the oldest until no more than `maxBytes` are left.
   *
   * @throws ReeveError `state_not_written`
   */
  prune(limits: { readonly before: number; readonly maxBytes: number }): void
}
