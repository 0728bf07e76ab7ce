import type { AuditFilter, AuditOutcome, AuditRecord, AuditStore, StoredAuditRecord } from '../authority/index.js'
import { ReeveError } from '../errors.js'
import type { Connection } from './database.js'

/** Records that are removed at once. */
const CHUNK = 1000
/** Part of the room that is left once some had to be made, so that it isn't made for each record. */
const LEFT = 0.9
/** Bytes that a record takes beside its texts, about. */
const FIXED = 512

const COLUMNS: Readonly<Record<keyof AuditRecord, string>> = {
  at: 'at',
  durationMs: 'duration_ms',
  threadId: 'thread',
  turnId: 'turn',
  callId: 'call',
  operation: 'operation',
  server: 'server',
  environment: 'environment',
  executionEnvironment: 'execution_environment',
  tool: 'tool',
  authority: 'authority',
  decision: 'decision',
  decidedBy: 'decided_by',
  transport: 'transport',
  rpc: 'rpc',
  outcome: 'outcome',
  errorCode: 'error_code',
  rpcCode: 'rpc_code',
  argumentBytes: 'argument_bytes',
  resultBytes: 'result_bytes',
  argumentDigest: 'argument_digest',
  resultDigest: 'result_digest',
  arguments: 'arguments',
  result: 'result',
}
const MEMBERS = Object.keys(COLUMNS) as readonly (keyof AuditRecord)[]
const NAMES = Object.values(COLUMNS)
const READ = MEMBERS.map((member) => `${COLUMNS[member]} AS "${member}"`).join(', ')

const OUTCOMES: Record<AuditOutcome, string> = {
  refused: "transport = 'unsent'",
  transport_error: "transport = 'failed'",
  rpc_error: "rpc = 'error'",
  tool_error: "outcome = 'error'",
  ok: "outcome = 'ok'",
}

/** Calls that were made, in the order in which they were written. */
export class SqliteAudit implements AuditStore {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get isDurable(): boolean {
    const main = this.#connection.prepare('PRAGMA database_list').get() as { file?: unknown } | undefined
    return typeof main?.file === 'string' && main.file !== ''
  }

  append(records: readonly AuditRecord[], durability: 'now' | 'soon'): void {
    const connection = this.#connection
    try {
      // Of this transaction alone: everything else that is kept here waits for the disk.
      if (durability === 'soon') connection.exec('PRAGMA synchronous = NORMAL')
      try {
        this.#inOne(() => {
          const insert = connection.prepare(
            `INSERT INTO audit (${NAMES.join(', ')}, bytes) VALUES (${NAMES.map(() => '?').join(', ')}, ?)`,
          )
          for (const record of records) insert.run(...MEMBERS.map((member) => record[member]), bytesOf(record))
        })
      } finally {
        if (durability === 'soon') connection.exec('PRAGMA synchronous = FULL')
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new ReeveError('state_not_written', `the record of ${records.length} calls can't be kept: ${why}`, {
        cause: error,
      })
    }
  }

  query(filter: AuditFilter): readonly StoredAuditRecord[] {
    const { where, values } = conditions(filter)
    // Written by us alone; whoever else writes there is believed, since nothing is decided by it.
    const rows = this.#connection
      .prepare(`SELECT id, ${READ} FROM audit ${where} ORDER BY id DESC LIMIT ?`)
      .all(...values, filter.limit) as StoredAuditRecord[]
    return rows.map((row) => ({ ...row })).reverse()
  }

  size(): number {
    const row = this.#connection.prepare('SELECT total(bytes) AS size FROM audit').get() as { size: number }
    return row.size
  }

  prune({ before, maxBytes }: { readonly before: number; readonly maxBytes: number }): void {
    this.#connection.prepare('DELETE FROM audit WHERE at < ?').run(before)
    let size = this.size()
    if (size <= maxBytes) return
    const oldest = this.#connection.prepare(
      `SELECT max(id) AS last, total(bytes) AS size FROM (SELECT id, bytes FROM audit ORDER BY id LIMIT ${CHUNK})`,
    )
    while (size > maxBytes * LEFT) {
      const { last, size: freed } = oldest.get() as { last: number | null; size: number }
      if (last === null) return
      this.#connection.prepare('DELETE FROM audit WHERE id <= ?').run(last)
      size -= freed
    }
  }

  #inOne(work: () => void): void {
    this.#connection.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#connection.exec('COMMIT')
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK')
      throw error
    }
  }
}

function bytesOf({ arguments: given, result }: AuditRecord): number {
  return FIXED + (given?.length ?? 0) + (result?.length ?? 0)
}

function conditions(filter: AuditFilter): { readonly where: string; readonly values: (string | number)[] } {
  const { server, environment, tool, since, outcome, afterId } = filter
  const parts: string[] = []
  const values: (string | number)[] = []
  const add = (part: string, ...given: (string | number)[]) => {
    parts.push(part)
    values.push(...given)
  }
  if (server !== undefined) add('server = ?', server)
  if (environment === null) add('environment IS NULL')
  else if (environment !== undefined) add('environment = ?', environment)
  if (tool !== undefined) add('tool = ?', tool)
  if (since !== undefined) add('at >= ?', since)
  if (outcome !== undefined) add(OUTCOMES[outcome])
  if (afterId !== undefined) add('id > ?', afterId)
  return { where: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values }
}
