import type { AuditFilter, AuditRecord, AuditStore, StoredAuditRecord } from '../authority/index.js'
import { ReeveError } from '../errors.js'
import { ROW, recordsOf, rowText } from './audit-rows.js'
import { BUSY_MS, type Connection } from './database.js'

/** Rows that are removed at once. */
const CHUNK = 1000
/** Part of the room that is left once some had to be made, so that it isn't made for each record. */
const LEFT = 0.9
/** Rows that are read at once. */
const READ = 64
/** Milliseconds that a batch waits for other processes that write: it can be written later, and calls wait meanwhile. */
const SOON_WAITS_MS = 250

/** Calls that were made, in the order in which they were written. */
export class SqliteAudit implements AuditStore {
  readonly #connection: Connection
  #insert: ReturnType<typeof insertion> | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get isDurable(): boolean {
    const main = this.#connection.prepare('PRAGMA database_list').get() as { file?: unknown } | undefined
    return typeof main?.file === 'string' && main.file !== ''
  }

  append(records: readonly AuditRecord[], durability: 'now' | 'soon'): void {
    try {
      if (durability === 'now') this.#write(records)
      else this.#writeSoon(records)
    } catch (error) {
      throw new ReeveError(
        'state_not_written',
        `the record of ${records.length} calls can't be kept: ${textOf(error)}`,
        {
          cause: error,
        },
      )
    }
  }

  query(filter: AuditFilter): readonly StoredAuditRecord[] {
    try {
      return this.#read(filter)
    } catch (error) {
      throw new ReeveError('state_not_read', `the records of calls can't be read: ${textOf(error)}`, { cause: error })
    }
  }

  size(): number {
    const row = this.#connection.prepare('SELECT total(bytes) AS size FROM audit').get() as { size: number }
    return row.size
  }

  prune({ before, maxBytes }: { readonly before: number; readonly maxBytes: number }): void {
    try {
      this.#connection.prepare('DELETE FROM audit WHERE last_at < ?').run(before)
      this.#shrink(maxBytes)
    } catch (error) {
      throw new ReeveError('state_not_written', textOf(error), { cause: error })
    }
  }

  #shrink(maxBytes: number): void {
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

  #read(filter: AuditFilter): readonly StoredAuditRecord[] {
    const { since = 0, afterId = -1, limit } = filter
    const rows = this.#connection.prepare(
      `SELECT id, records FROM audit WHERE id < ? AND id >= ? AND last_at >= ? ORDER BY id DESC LIMIT ${READ}`,
    )
    const found: StoredAuditRecord[] = []
    let before = Number.MAX_SAFE_INTEGER
    while (found.length < limit) {
      const some = rows.all(before, Math.floor(afterId / ROW), since) as { id: number; records: string }[]
      for (const row of some) {
        found.push(...recordsOf(row, filter).reverse())
        before = row.id
      }
      if (some.length < READ) break
    }
    return found.slice(0, limit).reverse()
  }

  /** Of this transaction alone: everything else that is kept here waits for the disk, and for its turn. */
  #writeSoon(records: readonly AuditRecord[]): void {
    const connection = this.#connection
    connection.exec(`PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = ${SOON_WAITS_MS}`)
    try {
      this.#write(records)
    } finally {
      connection.exec(`PRAGMA synchronous = FULL; PRAGMA busy_timeout = ${BUSY_MS}`)
    }
  }

  #write(records: readonly AuditRecord[]): void {
    if (records.length <= ROW) this.#writeRow(records)
    else
      this.#inOne(() => {
        for (let from = 0; from < records.length; from += ROW) this.#writeRow(records.slice(from, from + ROW))
      })
  }

  #writeRow(records: readonly AuditRecord[]): void {
    this.#insert ??= insertion(this.#connection)
    const text = rowText(records)
    const lastAt = records.reduce((last, { at }) => Math.max(last, at), 0)
    this.#insert.run(lastAt, text, text.length)
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

function insertion(connection: Connection) {
  return connection.prepare('INSERT INTO audit (last_at, records, bytes) VALUES (?, ?, ?)')
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
