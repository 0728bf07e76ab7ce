import { ReeveError } from '../errors.js'
import type { ThreadMemory, ThreadRecord } from '../threads/index.js'
import type { Connection } from './database.js'

/** Threads kept; those that were longest not written to go first. */
const KEPT = 10_000

/** What threads selected. A row that is not what was put there counts as absent. */
export class SqliteThreads implements ThreadMemory {
  readonly #connection: Connection
  readonly #now: () => number

  constructor(connection: Connection, now: () => number = Date.now) {
    this.#connection = connection
    this.#now = now
  }

  get(id: string): ThreadRecord | undefined {
    const row = this.#connection.prepare('SELECT record FROM threads WHERE id = ?').get(id) as
      | { record: unknown }
      | undefined
    return typeof row?.record === 'string' ? readRecord(row.record) : undefined
  }

  put(id: string, record: ThreadRecord): void {
    try {
      this.#connection
        .prepare(
          `INSERT INTO threads (id, record, written_at) VALUES (?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET record = excluded.record, written_at = excluded.written_at`,
        )
        .run(id, JSON.stringify(record), this.#now())
      this.#connection
        .prepare(
          `DELETE FROM threads WHERE id IN (SELECT id FROM threads ORDER BY written_at DESC, id LIMIT -1 OFFSET ${KEPT})`,
        )
        .run()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new ReeveError('state_not_written', `the selection of thread '${id}' can't be kept: ${why}`, {
        cause: error,
        data: { thread: id },
      })
    }
  }

  forget(id: string): void {
    this.#connection.prepare('DELETE FROM threads WHERE id = ?').run(id)
  }
}

function readRecord(text: string): ThreadRecord | undefined {
  try {
    const record = JSON.parse(text) as Partial<ThreadRecord> | null
    if (record === null || typeof record !== 'object') return undefined
    const { environments, capabilityRoots } = record
    if (!Array.isArray(environments) || !environments.every(isPlace)) return undefined
    if (!Array.isArray(capabilityRoots) || !capabilityRoots.every(isRoot)) return undefined
    return { environments, capabilityRoots }
  } catch {
    // The row was written by us as JSON: whatever it is now, it is worth nothing.
    return undefined
  }
}

function isPlace(value: unknown): boolean {
  const { id, cwd, workspaceRoots, permissions } = members(value)
  return (
    typeof id === 'string' &&
    typeof cwd === 'string' &&
    Array.isArray(workspaceRoots) &&
    workspaceRoots.every((root) => typeof root === 'string') &&
    (permissions === undefined || (typeof permissions === 'object' && permissions !== null))
  )
}

function isRoot(value: unknown): boolean {
  const { id, environment, path } = members(value)
  return typeof id === 'string' && typeof environment === 'string' && typeof path === 'string'
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
