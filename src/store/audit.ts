import {
  type AuditFilter,
  type AuditRecord,
  type AuditStore,
  auditOutcome,
  type StoredAuditRecord,
} from '../authority/index.js'
import { ReeveError } from '../errors.js'
import type { Connection } from './database.js'

/** Rows that are removed at once. */
const CHUNK = 1000
/** Part of the room that is left once some had to be made, so that it isn't made for each record. */
const LEFT = 0.9
/** Records of one row: most of what a record costs is the row that it is in. Their numbers are counted in these. */
const ROW = 1024
/** Rows that are read at once. */
const READ = 64

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
          const insert = connection.prepare('INSERT INTO audit (last_at, records, bytes) VALUES (?, ?, ?)')
          for (let from = 0; from < records.length; from += ROW) {
            const some = records.slice(from, from + ROW)
            const text = JSON.stringify(some.map(valuesOf))
            const lastAt = some.reduce((last, { at }) => Math.max(last, at), 0)
            insert.run(lastAt, text, text.length)
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
    const { since = 0, afterId = -1, limit } = filter
    const rows = this.#connection.prepare(
      `SELECT id, records FROM audit WHERE id < ? AND id >= ? AND last_at >= ? ORDER BY id DESC LIMIT ${READ}`,
    )
    const found: StoredAuditRecord[] = []
    let before = Number.MAX_SAFE_INTEGER
    while (found.length < limit) {
      const some = rows.all(before, Math.floor(afterId / ROW), since) as { id: number; records: string }[]
      for (const row of some) {
        found.push(...readRow(row, filter).reverse())
        before = row.id
      }
      if (some.length < READ) break
    }
    return found.slice(0, limit).reverse()
  }

  size(): number {
    const row = this.#connection.prepare('SELECT total(bytes) AS size FROM audit').get() as { size: number }
    return row.size
  }

  prune({ before, maxBytes }: { readonly before: number; readonly maxBytes: number }): void {
    this.#connection.prepare('DELETE FROM audit WHERE last_at < ?').run(before)
    let size = this.size()
    if (size <= maxBytes) return
    const oldest = this.#connection.prepare(`SELECT id, bytes FROM audit ORDER BY id LIMIT ${CHUNK}`)
    while (size > maxBytes * LEFT) {
      const rows = oldest.all() as { id: number; bytes: number }[]
      let last: number | undefined
      for (const { id, bytes } of rows) {
        if (size <= maxBytes * LEFT) break
        size -= bytes
        last = id
      }
      if (last === undefined) return
      this.#connection.prepare('DELETE FROM audit WHERE id <= ?').run(last)
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

function valuesOf(record: AuditRecord): readonly unknown[] {
  return MEMBERS.map((member) => record[member])
}

/** What is filtered by, without the rest of a record: most are read in vain. */
function fits(values: readonly unknown[], { server, environment, tool, since, outcome }: AuditFilter): boolean {
  return (
    (server === undefined || values[AT.server] === server) &&
    (environment === undefined || values[AT.environment] === environment) &&
    (tool === undefined || values[AT.tool] === tool) &&
    (since === undefined || Number(values[AT.at]) >= since) &&
    (outcome === undefined || auditOutcome(readRecord(values)) === outcome)
  )
}

const AT = {
  at: MEMBERS.indexOf('at'),
  server: MEMBERS.indexOf('server'),
  environment: MEMBERS.indexOf('environment'),
  tool: MEMBERS.indexOf('tool'),
}

/** Whoever else writes there is believed as far as it can be read, since nothing is decided by it. */
function readRow(
  { id, records }: { readonly id: number; readonly records: string },
  filter: AuditFilter,
): StoredAuditRecord[] {
  const { afterId = -1 } = filter
  return parsedRows(records).flatMap((values, index) => {
    const own = id * ROW + index
    return own > afterId && fits(values, filter) ? [{ ...readRecord(values), id: own }] : []
  })
}

function parsedRows(records: string): readonly (readonly unknown[])[] {
  try {
    const rows: unknown = JSON.parse(records)
    return Array.isArray(rows) ? rows.filter((row) => Array.isArray(row)) : []
  } catch {
    return []
  }
}

function readRecord(values: readonly unknown[]): AuditRecord {
  return Object.fromEntries(MEMBERS.map((member, at) => [member, values[at] ?? null])) as object as AuditRecord
}
