import type { JsonObject } from '../protocol/index.js'
import type { CacheHint } from './types.js'

/** What a server offers, as it said it. Frozen; every member of every tool survives. */
export interface Inventory {
  readonly protocolVersion: string
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions?: string
  readonly tools: readonly JsonObject[]
  /** What the result of `tools/list` holds beside the tools: `_meta`, and members that no revision knows. */
  readonly toolList?: JsonObject
  /** Absent when the server has no such capability. */
  readonly resources?: readonly JsonObject[]
  readonly resourceTemplates?: readonly JsonObject[]
  readonly prompts?: readonly JsonObject[]
  /** What a modern server said of keeping each listing; the shortest time and narrowest scope of its pages. */
  readonly cacheHints?: Readonly<Partial<Record<'tools' | 'resources' | 'resourceTemplates' | 'prompts', CacheHint>>>
}

export interface StoredInventory {
  readonly inventory: Inventory
  /** Milliseconds since the epoch. */
  readonly storedAt: number
}

/**
 * The durable tool-definition cache, handed down from the store. `identity` is the connection identity's digest: a
 * changed command, argument, variable, header or URL is another entry. `unavailable` is never an error to the caller.
 */
export interface InventoryCache {
  get(identity: string): StoredInventory | undefined
  put(identity: string, serverKey: string, inventory: Inventory): void
  forget(identity: string): void
}

/**
 * A place of one server's own for what it offers, instead of the general cache. Fetches are numbered when they begin, so that
 * one which was overtaken does not undo a newer one (reference: connections, 7.4).
 */
export interface InventorySlot {
  get(): StoredInventory | undefined
  /** For one connection. */
  fetcher(): InventoryFetcher
}

export interface InventoryFetcher {
  /** The tools are about to be listed. */
  began(): void
  /** What came of it. */
  put(inventory: Inventory): void
}
