import {
  type AuditFilter,
  type AuditRecord,
  type AuditStore,
  auditOutcome,
  type StoredAuditRecord,
} from '../authority/index.js'
import { ReeveError } from '../errors.js'
import type { Connection } from './database.js'

/** Records that are removed at once. */
const CHUNK = 1000
/** Part of the room that is left once some had to be made, so that it isn't made for each record. */
const LEFT = 0.9
/** Rows of one statement: most of what a record costs is the call of SQLite. */
const ROWS = 50
/** Bytes that a record takes beside its text, about. */
const FIXED = 100
/** What a record is kept as: the values of these members, in this order. New ones go to the end. */
const MEMBERS = [
  'at',
  'durationMs',
  'threadId',
  'turnId',
  'callId',
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
  'argumentBytes',
  'resultBytes',
  'argumentDigest',
  'resultDigest',
  'arguments',
  'result',
] as const satisfies readonly (keyof AuditRecord)[]
const COLUMNS = 'at, server, environment, tool, outcome, record, bytes'

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
          const full = records.length >= ROWS ? connection.prepare(insertOf(ROWS)) : undefined
          for (let from = 0; from < records.length; from += ROWS) {
            const some = records.slice(from, from + ROWS)
            const insert = (some.length === ROWS ? full : undefined) ?? connection.prepare(insertOf(some.length))
            insert.run(...some.flatMap(valuesOf))
          }
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
    const rows = this.#connection
      .prepare(`SELECT id, record FROM audit ${where} ORDER BY id DESC LIMIT ?`)
      .all(...values, filter.limit) as { id: number; record: string }[]
    return rows.flatMap(readRow).reverse()
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

function insertOf(rows: number): string {
  const row = '(?, ?, ?, ?, ?, ?, ?)'
  return `INSERT INTO audit (${COLUMNS}) VALUES ${Array.from({ length: rows }, () => row).join(', ')}`
}

function valuesOf(record: AuditRecord): readonly (string | number | null)[] {
  const { at, server, environment, tool } = record
  const text = JSON.stringify(MEMBERS.map((member) => record[member]))
  return [at, server, environment, tool, auditOutcome(record), text, FIXED + text.length]
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
  if (outcome !== undefined) add('outcome = ?', outcome)
  if (afterId !== undefined) add('id > ?', afterId)
  return { where: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values }
}

/** Whoever else writes there is believed as far as it can be read, since nothing is decided by it. */
function readRow({ id, record }: { readonly id: number; readonly record: string }): readonly StoredAuditRecord[] {
  try {
    const values = JSON.parse(record) as readonly unknown[]
    const read = Object.fromEntries(MEMBERS.map((member, index) => [member, values[index] ?? null]))
    return [{ ...(read as object as AuditRecord), id }]
  } catch {
    return []
  }
}
