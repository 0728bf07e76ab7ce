import type { EraMemory, RememberedEra } from '../connections/index.js'
import type { Connection } from './database.js'

/** Entries kept; the oldest go first. A changed configuration leaves its old entry behind. */
const KEPT = 1000

/** Which era each server was found to speak. A row that is not what was put there counts as absent. */
export class SqliteEras implements EraMemory {
  readonly #connection: Connection
  readonly #now: () => number

  constructor(connection: Connection, now: () => number = Date.now) {
    this.#connection = connection
    this.#now = now
  }

  get(identity: string): RememberedEra | undefined {
    const row = this.#connection
      .prepare('SELECT era, protocol_version, found_at FROM eras WHERE identity = ?')
      .get(identity) as { era: unknown; protocol_version: unknown; found_at: unknown } | undefined
    if (row === undefined) return undefined
    const { era, protocol_version: protocolVersion, found_at: foundAt } = row
    if (era !== 'legacy' && era !== 'modern') return undefined
    if (typeof protocolVersion !== 'string' || typeof foundAt !== 'number') return undefined
    return { era, protocolVersion, foundAt }
  }

  put(identity: string, serverKey: string, { era, protocolVersion }: Omit<RememberedEra, 'foundAt'>): void {
    this.#connection
      .prepare(
        `INSERT INTO eras (identity, server_key, era, protocol_version, found_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (identity) DO UPDATE SET server_key = excluded.server_key, era = excluded.era,
           protocol_version = excluded.protocol_version, found_at = excluded.found_at`,
      )
      .run(identity, serverKey, era, protocolVersion, this.#now())
    this.#connection
      .prepare(
        `DELETE FROM eras WHERE identity IN (SELECT identity FROM eras ORDER BY found_at DESC LIMIT -1 OFFSET ${KEPT})`,
      )
      .run()
  }

  forget(identity: string): void {
    this.#connection.prepare('DELETE FROM eras WHERE identity = ?').run(identity)
  }
}
