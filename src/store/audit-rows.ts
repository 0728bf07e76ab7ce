import {
  type AuditFilter,
  type AuditRecord,
  auditOutcome,
  LOCAL_PRINCIPAL,
  type StoredAuditRecord,
} from '../authority/index.js'

/** Records of one row: most of what a record costs is the row that it is in. Their numbers are counted in these. */
export const ROW = 1024

/** What most calls of a row have in common is kept once in it: the values of these members. New ones go to the end. */
const SHARED = [
  'threadId',
  'turnId',
  'operation',
  'server',
  'environment',
  'executionEnvironment',
  'tool',
  'authority',
  'decision',
  'decidedBy',
  'transport',
  'rpc',
  'outcome',
  'errorCode',
  'rpcCode',
  'principal',
] as const satisfies readonly (keyof AuditRecord)[]

type Shared = Pick<AuditRecord, (typeof SHARED)[number]>

/** How digests begin; kept without. */
const DIGEST = 'sha256:'

/** The text of a row: what calls share, then each call with the index of what it shares. */
export function rowText(records: readonly AuditRecord[]): string {
  const shared: (readonly unknown[])[] = []
  const known = new Map<string, number>()
  let last: AuditRecord | undefined
  let at = 0
  const own = records.map((record) => {
    if (last === undefined || !sharesAll(last, record)) at = indexOf(record, shared, known)
    last = record
    return ownValues(record, at)
  })
  return JSON.stringify([shared, own])
}

function sharesAll(a: AuditRecord, b: AuditRecord): boolean {
  return SHARED.every((member) => a[member] === b[member])
}

function indexOf(record: AuditRecord, shared: (readonly unknown[])[], known: Map<string, number>): number {
  const values = SHARED.map((member) => record[member])
  const text = JSON.stringify(values)
  const at = known.get(text)
  if (at !== undefined) return at
  known.set(text, shared.length)
  return shared.push(values) - 1
}

function ownValues(record: AuditRecord, sharedAt: number): readonly unknown[] {
  const { at, durationMs, callId, argumentBytes, resultBytes, argumentDigest, resultDigest } = record
  const values = [
    sharedAt,
    at,
    durationMs,
    callId,
    argumentBytes,
    resultBytes,
    bare(argumentDigest),
    bare(resultDigest),
  ]
  if (record.arguments !== null || record.result !== null) values.push(record.arguments, record.result)
  return values
}

function bare(digest: string | null): string | null {
  return digest === null ? null : digest.slice(DIGEST.length)
}

/**
 * The records of a row that a filter wants, oldest first. Whoever else writes there is believed as far as it can be read,
 * since nothing is decided by it.
 */
export function recordsOf(
  { id, records }: { readonly id: number; readonly records: string },
  filter: AuditFilter,
): StoredAuditRecord[] {
  const { afterId = -1, since = 0 } = filter
  const [shared, own] = parsedRow(records)
  const wanted = shared.map((values) => {
    const read = readShared(values)
    return fits(read, filter) ? read : undefined
  })
  return own.flatMap((values, index) => {
    const common = wanted[Number(values[0])]
    const number = id * ROW + index
    if (common === undefined || number <= afterId || Number(values[1]) < since) return []
    return [recordOf(common, values, number)]
  })
}

type Values = readonly unknown[]

function parsedRow(text: string): readonly [readonly Values[], readonly Values[]] {
  try {
    const row: unknown = JSON.parse(text)
    if (Array.isArray(row) && row.length === 2) return [arraysOf(row[0]), arraysOf(row[1])]
  } catch {
    // As for any other row that is none of ours.
  }
  return [[], []]
}

function arraysOf(value: unknown): readonly Values[] {
  return Array.isArray(value) && value.every((one) => Array.isArray(one)) ? value : []
}

function fits(record: Shared, filter: AuditFilter): boolean {
  const { server, environment, tool, outcome, decision, decidedBy, threadId, principal } = filter
  return (
    (server === undefined || record.server === server) &&
    (environment === undefined || record.environment === environment) &&
    (tool === undefined || record.tool === tool) &&
    (principal === undefined || (record.principal ?? LOCAL_PRINCIPAL) === principal) &&
    (threadId === undefined || record.threadId === threadId) &&
    (decision === undefined || record.decision === decision) &&
    (decidedBy === undefined || record.decidedBy === decidedBy) &&
    (outcome === undefined || auditOutcome(record) === outcome)
  )
}

function readShared(values: Values): Shared {
  return Object.fromEntries(SHARED.map((member, at) => [member, values[at] ?? null])) as object as Shared
}

/** Member by member: merging two objects costs ten times as much. */
function recordOf(shared: Shared, values: Values, id: number): StoredAuditRecord {
  const [, at, durationMs, callId, argumentBytes, resultBytes, argumentDigest, resultDigest, args, result] = values
  return {
    id,
    at: Number(at),
    durationMs: Number(durationMs),
    threadId: shared.threadId,
    principal: shared.principal,
    turnId: shared.turnId,
    callId: String(callId),
    operation: shared.operation,
    server: shared.server,
    environment: shared.environment,
    executionEnvironment: shared.executionEnvironment,
    tool: shared.tool,
    authority: shared.authority,
    decision: shared.decision,
    decidedBy: shared.decidedBy,
    transport: shared.transport,
    rpc: shared.rpc,
    outcome: shared.outcome,
    errorCode: shared.errorCode,
    rpcCode: shared.rpcCode,
    argumentBytes: typeof argumentBytes === 'number' ? argumentBytes : null,
    resultBytes: typeof resultBytes === 'number' ? resultBytes : null,
    argumentDigest: typeof argumentDigest === 'string' ? DIGEST + argumentDigest : null,
    resultDigest: typeof resultDigest === 'string' ? DIGEST + resultDigest : null,
    arguments: textOrNull(args),
    result: textOrNull(result),
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
