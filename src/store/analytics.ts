import { ReeveError } from '../errors.js'
import type { Connection } from './database.js'

/** Whose queue an event is in: one actor, and a digest of the account, mode and endpoint that it may be sent with. */
export interface AnalyticsQueueOwner {
  readonly actor: string
  readonly binding: string
}

export interface QueuedEvent {
  readonly id: number
  /** JSON text, as it is sent. */
  readonly event: string
  /** Deliveries that failed. */
  readonly attempts: number
}

export interface AnalyticsLimits {
  readonly maxRows: number
  readonly maxBytes: number
  /** Milliseconds after which an event is not worth sending any more. */
  readonly maxAgeMs: number
}

/** What is to be sent, on disk. Every member may raise `state_not_written`. */
export interface AnalyticsQueue {
  /** Beyond the limits the oldest go. `heldUntil`: until then it is nobody's but the actor's. */
  put(owner: AnalyticsQueueOwner, event: string, times: { readonly now: number; readonly heldUntil: number }): void
  /**
   * The actor's oldest events, and those with the same binding whose actor is gone: what it takes is the actor's from then on.
   * At most `count` events and about `bytes` bytes; at least one, if there is one.
   */
  take(
    owner: AnalyticsQueueOwner,
    most: { readonly count: number; readonly bytes: number },
    times: { readonly now: number; readonly heldUntil: number },
  ): readonly QueuedEvent[]
  remove(ids: readonly number[]): void
  /** Counts a delivery that failed, and drops what failed `maxAttempts` times. Returns how many were dropped. */
  failed(ids: readonly number[], maxAttempts: number): number
  count(): number
}

export const ANALYTICS_LIMITS: AnalyticsLimits = {
  maxRows: 10_000,
  maxBytes: 16 * 1024 * 1024,
  maxAgeMs: 7 * 24 * 60 * 60 * 1000,
}

/** Events between two looks at what age and size of the whole queue are. */
const LOOK = 64

/** Events of tool calls that were not delivered yet. Neither a token nor anything that a token can be told from is kept. */
export class SqliteAnalytics implements AnalyticsQueue {
  readonly #connection: Connection
  readonly #limits: AnalyticsLimits
  #unlooked = LOOK

  constructor(connection: Connection, limits: AnalyticsLimits = ANALYTICS_LIMITS) {
    this.#connection = connection
    this.#limits = limits
  }

  put(
    { actor, binding }: AnalyticsQueueOwner,
    event: string,
    { now, heldUntil }: { readonly now: number; readonly heldUntil: number },
  ): void {
    this.#inOne(() => {
      this.#connection
        .prepare(
          'INSERT INTO analytics (actor, binding, event, bytes, queued_at, held_until) VALUES (?, ?, ?, ?, ?, ?)',
        )
        .run(actor, binding, event, Buffer.byteLength(event), now, heldUntil)
      this.#bound(now)
    })
  }

  take(
    { actor, binding }: AnalyticsQueueOwner,
    most: { readonly count: number; readonly bytes: number },
    { now, heldUntil }: { readonly now: number; readonly heldUntil: number },
  ): readonly QueuedEvent[] {
    return this.#inOne(() => {
      this.#connection.prepare('DELETE FROM analytics WHERE queued_at < ?').run(now - this.#limits.maxAgeMs)
      const rows = this.#connection
        .prepare(
          'SELECT id, event, bytes, attempts FROM analytics WHERE binding = ? AND (actor = ? OR held_until < ?) ORDER BY id LIMIT ?',
        )
        .all(binding, actor, now, most.count) as (QueuedEvent & { readonly bytes: number })[]
      const taken = withinBytes(rows, most.bytes)
      const hold = this.#connection.prepare('UPDATE analytics SET actor = ?, held_until = ? WHERE id = ?')
      for (const { id } of taken) hold.run(actor, heldUntil, id)
      return taken.map(({ id, event, attempts }) => ({ id, event, attempts }))
    })
  }

  remove(ids: readonly number[]): void {
    this.#inOne(() => {
      const remove = this.#connection.prepare('DELETE FROM analytics WHERE id = ?')
      for (const id of ids) remove.run(id)
    })
  }

  failed(ids: readonly number[], maxAttempts: number): number {
    return this.#inOne(() => {
      const count = this.#connection.prepare('UPDATE analytics SET attempts = attempts + 1 WHERE id = ?')
      const drop = this.#connection.prepare('DELETE FROM analytics WHERE id = ? AND attempts >= ?')
      let dropped = 0
      for (const id of ids) {
        count.run(id)
        dropped += drop.run(id, maxAttempts).changes
      }
      return dropped
    })
  }

  count(): number {
    const row = this.#connection.prepare('SELECT count(*) AS events FROM analytics').get() as { events: number }
    return row.events
  }

  #bound(now: number): void {
    const { maxRows, maxBytes, maxAgeMs } = this.#limits
    // Numbers only grow, so that no more than this many rows can be beyond it.
    this.#connection.prepare('DELETE FROM analytics WHERE id <= (SELECT max(id) FROM analytics) - ?').run(maxRows)
    this.#unlooked += 1
    if (this.#unlooked < LOOK) return
    this.#unlooked = 0
    this.#connection.prepare('DELETE FROM analytics WHERE queued_at < ?').run(now - maxAgeMs)
    // From the newest to the oldest, until the room is used up.
    this.#connection
      .prepare(
        `DELETE FROM analytics WHERE id IN (
           SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS upto FROM analytics) WHERE upto > ?
         )`,
      )
      .run(maxBytes)
  }

  /** Written behind: an event survives the end of this process, and may be lost with the machine. */
  #inOne<T>(work: () => T): T {
    const connection = this.#connection
    try {
      connection.exec('PRAGMA synchronous = NORMAL')
      try {
        connection.exec('BEGIN IMMEDIATE')
        const result = work()
        connection.exec('COMMIT')
        return result
      } catch (error) {
        if (connection.inTransaction) connection.exec('ROLLBACK')
        throw error
      } finally {
        connection.exec('PRAGMA synchronous = FULL')
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new ReeveError('state_not_written', `the queue of analytics events can't be used: ${why}`, { cause: error })
    }
  }
}

function withinBytes<Row extends { readonly bytes: number }>(rows: readonly Row[], most: number): readonly Row[] {
  let size = 0
  const over = rows.findIndex(({ bytes }, index) => {
    size += bytes
    return index > 0 && size > most
  })
  return over === -1 ? rows : rows.slice(0, over)
}
