import { setTimeout as pause } from 'node:timers/promises'
import {
  AUDIT_DECISIONS,
  AUDIT_OUTCOMES,
  type AuditFilter,
  type AuditStore,
  auditOutcome,
  DECIDERS,
  LOCAL_PRINCIPAL,
  type StoredAuditRecord,
} from '../../authority/index.js'
import { nearest } from '../../config/index.js'
import type { Store } from '../../store/index.js'
import type { Cli, Column } from '../cli.js'
import { openHomeState } from '../home-state.js'
import { oneLine } from '../printable.js'
import { since } from '../since.js'
import { UsageError } from '../usage.js'

export interface AuditOptions {
  readonly server?: string
  /** False: `--no-env`. */
  readonly env?: string | false
  readonly tool?: string
  readonly principal?: string
  readonly since?: string
  readonly outcome?: string
  readonly decision?: string
  readonly decidedBy?: string
  readonly thread?: string
  readonly limit?: string
  readonly follow?: boolean
}

/** Records shown when nothing else is said, and the most that are read at once. */
const SHOWN = 100
const MOST = 1_000_000
/** Milliseconds between two looks at the file. */
const LOOK_MS = 500

/**
 * Shows the calls that were recorded, oldest first. Reads the state of this home and starts nothing. With `--json` one
 * JSON object a line, so that it can be followed, too.
 */
export async function run(cli: Cli, options: AuditOptions): Promise<number> {
  const filter = filterOf(options, Date.now())
  using store = openHomeState(cli) ?? (options.follow === true ? await stateToCome(cli) : undefined)
  if (store === undefined) {
    cli.err.line(`nothing is recorded in ${oneLine(cli.home)}`)
    return 0
  }
  // Before the records are read: what is written meanwhile comes later than this, and is not passed over.
  const newest = newestOf(store.audit)
  const records = store.audit.query(filter)
  show(cli, records, options.follow === true)
  if (options.follow) await follow(cli, store.audit, filter, records.at(-1)?.id ?? newest)
  else if (records.length === 0) cli.err.line('nothing is recorded that fits')
  return 0
}

/** Undefined: it was interrupted first. */
async function stateToCome(cli: Cli): Promise<Store | undefined> {
  while (!cli.signal.aborted) {
    await pause(LOOK_MS, undefined, { signal: cli.signal }).catch(() => undefined)
    const store = openHomeState(cli)
    if (store !== undefined) return store
  }
  return undefined
}

function newestOf(audit: AuditStore): number {
  return audit.query({ limit: 1 })[0]?.id ?? 0
}

async function follow(cli: Cli, audit: AuditStore, filter: AuditFilter, last: number): Promise<void> {
  let afterId = last
  while (!cli.signal.aborted) {
    // Until Ctrl-C, which is how it ends.
    await pause(LOOK_MS, undefined, { signal: cli.signal }).catch(() => undefined)
    const records = audit.query({ ...filter, afterId, limit: MOST })
    afterId = records.at(-1)?.id ?? afterId
    show(cli, records, true)
  }
}

function show(cli: Cli, records: readonly StoredAuditRecord[], isFollowed: boolean): void {
  if (cli.json) for (const record of records) cli.out.line(JSON.stringify(toJson(record)))
  else if (isFollowed) for (const record of records) cli.out.line(lineOf(record))
  else cli.out.table(records, records.some(isForOther) ? [...COLUMNS, PRINCIPAL] : COLUMNS)
}

const COLUMNS: readonly Column<StoredAuditRecord>[] = [
  { title: 'TIME', value: ({ at }) => new Date(at).toISOString() },
  { title: 'SERVER', value: ({ server }) => server ?? undefined },
  { title: 'ENVIRONMENT', value: ({ environment }) => environment ?? undefined },
  { title: 'TOOL', value: ({ tool }) => tool },
  { title: 'DECISION', value: decisionOf },
  { title: 'MS', value: ({ durationMs }) => durationMs.toFixed(1), align: 'right' },
  { title: 'IN', value: ({ argumentBytes }) => argumentBytes?.toString(), align: 'right' },
  { title: 'OUT', value: ({ resultBytes }) => resultBytes?.toString(), align: 'right' },
  { title: 'OUTCOME', value: outcomeText },
]

const PRINCIPAL: Column<StoredAuditRecord> = { title: 'PRINCIPAL', value: ({ principal }) => principal ?? undefined }

/** There is a gateway that others come through. */
function isForOther({ principal }: StoredAuditRecord): boolean {
  return principal !== null && principal !== LOCAL_PRINCIPAL
}

/** The widths of what comes later are not known. */
function lineOf(record: StoredAuditRecord): string {
  return COLUMNS.map(({ value }) => oneLine(value(record) ?? '') || '-').join('  ')
}

function decisionOf({ decision, decidedBy }: StoredAuditRecord): string | undefined {
  if (decision === null) return undefined
  return decidedBy === null ? decision : `${decision} (${decidedBy})`
}

function outcomeText(record: StoredAuditRecord): string {
  const { errorCode, rpcCode } = record
  const code = rpcCode === null ? errorCode : String(rpcCode)
  return code === null ? auditOutcome(record) : `${auditOutcome(record)} (${code})`
}

function toJson(record: StoredAuditRecord): Record<string, unknown> {
  return {
    id: record.id,
    at: new Date(record.at).toISOString(),
    duration_ms: record.durationMs,
    outcome: auditOutcome(record),
    operation: record.operation,
    server: record.server,
    environment_id: record.environment,
    execution_environment_id: record.executionEnvironment,
    tool: record.tool,
    principal: record.principal ?? LOCAL_PRINCIPAL,
    thread: record.threadId,
    turn: record.turnId,
    call: record.callId,
    authority: record.authority,
    decision: record.decision,
    decided_by: record.decidedBy,
    transport_outcome: record.transport,
    rpc_outcome: record.rpc,
    tool_outcome: record.outcome,
    error_code: record.errorCode,
    rpc_code: record.rpcCode,
    argument_bytes: record.argumentBytes,
    argument_digest: record.argumentDigest,
    result_bytes: record.resultBytes,
    result_digest: record.resultDigest,
    ...(record.arguments !== null && { arguments: parsed(record.arguments) }),
    ...(record.result !== null && { result: parsed(record.result) }),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function filterOf(options: AuditOptions, now: number): AuditFilter {
  const { server, env, tool, principal, since: from, outcome, decision, decidedBy, thread, limit } = options
  return {
    limit: limitOf(limit),
    ...(server !== undefined && { server }),
    ...(env !== undefined && { environment: env === false ? null : env }),
    ...(tool !== undefined && { tool }),
    ...(principal !== undefined && { principal }),
    ...(from !== undefined && { since: since('--since', from, now) }),
    ...(outcome !== undefined && { outcome: oneOf('--outcome', outcome, AUDIT_OUTCOMES) }),
    ...(decision !== undefined && { decision: oneOf('--decision', decision, AUDIT_DECISIONS) }),
    ...(decidedBy !== undefined && { decidedBy: oneOf('--decided-by', decidedBy, DECIDERS) }),
    ...(thread !== undefined && { threadId: thread }),
  }
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return SHOWN
  if (!/^\d{1,7}$/.test(text) || Number(text) > MOST)
    throw new UsageError(`--limit takes a number of records, ${MOST} at most; got '${text}'`, { place: '--limit' })
  return Number(text)
}

function oneOf<Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const found = names.find((known) => known === text)
  if (found !== undefined) return found
  const close = nearest(text, names)
  const hint = close === undefined ? '' : `. Did you mean '${close}'?`
  throw new UsageError(`${option} takes one of ${names.join(', ')}; got '${text}'${hint}`, { place: option })
}
