import type { Inventory, InventoryCache, StoredInventory } from '../connections/index.js'
import type { Connection } from './database.js'

/** Entries kept; the oldest go first. A changed configuration leaves its old entry behind. */
const KEPT = 1000

/** The durable inventory cache. A row that can't be read back counts as absent and is dropped. */
export class SqliteInventories implements InventoryCache {
  readonly #connection: Connection
  readonly #now: () => number

  constructor(connection: Connection, now: () => number = Date.now) {
    this.#connection = connection
    this.#now = now
  }

  get(identity: string): StoredInventory | undefined {
    const row = this.#connection
      .prepare('SELECT inventory, stored_at FROM inventories WHERE identity = ?')
      .get(identity) as { inventory: string; stored_at: number } | undefined
    if (row === undefined) return undefined
    const inventory = readInventory(row.inventory)
    if (inventory === undefined) {
      this.forget(identity)
      return undefined
    }
    return { inventory, storedAt: row.stored_at }
  }

  put(identity: string, serverKey: string, inventory: Inventory): void {
    this.#connection
      .prepare(
        `INSERT INTO inventories (identity, server_key, inventory, stored_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (identity) DO UPDATE SET server_key = excluded.server_key, inventory = excluded.inventory,
           stored_at = excluded.stored_at`,
      )
      .run(identity, serverKey, JSON.stringify(inventory), this.#now())
    this.#connection
      .prepare(
        `DELETE FROM inventories WHERE identity IN (
           SELECT identity FROM inventories ORDER BY stored_at DESC LIMIT -1 OFFSET ${KEPT})`,
      )
      .run()
  }

  forget(identity: string): void {
    this.#connection.prepare('DELETE FROM inventories WHERE identity = ?').run(identity)
  }
}

function readInventory(text: string): Inventory | undefined {
  try {
    const value = JSON.parse(text) as Partial<Inventory> | null
    return value !== null && typeof value === 'object' && Array.isArray(value.tools) ? (value as Inventory) : undefined
  } catch {
    // The row was written by us as JSON: whatever it is now, it is worth nothing.
    return undefined
  }
}
