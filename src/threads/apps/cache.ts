import type { Inventory, StoredInventory } from '../../connections/index.js'

/**
 * What is kept of hosted apps, in memory and beyond the process, by account, user, workspace, backend, product and mode
 * (reference: auth, 5.2; known-quirks, 68). The store keeps it.
 */
export interface AppsCache {
  /**
   * The entry of an account. One owner has entries of one account at a time: those that it had of another one are discarded,
   * unless somebody else still has them.
   *
   * @param owner who is signed in: its manager
   */
  activate(owner: object, key: AppsCacheKey): AppsCacheEntry
}

export interface AppsCacheKey {
  /** Lower-case hex, of everything that tells entries apart; the name of its files. */
  readonly digest: string
  /** A digest of the account alone. */
  readonly account: string
}

export interface AppsCacheEntry {
  /** Nothing once the entry was discarded. */
  get(): StoredInventory | undefined
  /** The number of a fetch that begins now. */
  begin(): number
  /**
   * Keeps what a fetch came to, unless a later one was kept before.
   *
   * @returns what is kept then; undefined when the entry was discarded
   */
  publish(ticket: number, inventory: Inventory): Inventory | undefined
}
