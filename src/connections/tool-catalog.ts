import { isDeepStrictEqual } from 'node:util'
import { StaleCatalogError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { CatalogLock, type ReadLease } from './catalog-lock.js'
import type { Timers } from './timers.js'

/** Milliseconds that a new list waits for the calls that run. */
const PUBLISH_PATIENCE = 5_000

/** A server's tools at one moment. Frozen. */
export interface CatalogSnapshot {
  /** Grows with every list that differs from the one before; 0 before the first. */
  readonly revision: number
  readonly tools: readonly JsonObject[]
}

/** What a server's tools are now, and the right to call one of them as it was seen (reference: connections, 7.5). */
export class ToolCatalog {
  readonly #key: ServerKey
  readonly #lock: CatalogLock
  #snapshot: CatalogSnapshot = Object.freeze({ revision: 0, tools: Object.freeze([]) })
  #byName: ReadonlyMap<string, JsonObject> = new Map()

  constructor(key: ServerKey, timers: Timers) {
    this.#key = key
    this.#lock = new CatalogLock(timers)
  }

  get snapshot(): CatalogSnapshot {
    return this.#snapshot
  }

  tool(name: string): JsonObject | undefined {
    return this.#byName.get(name)
  }

  /**
   * Takes a new, frozen list once the running calls are over. Resolves to whether it differs from the current one, in
   * any member of any definition; their order does not count.
   */
  async publish(tools: readonly JsonObject[]): Promise<boolean> {
    let changed = false
    await this.#lock.write(() => {
      changed = this.#replace(tools)
    }, PUBLISH_PATIENCE)
    return changed
  }

  /**
   * The right to call a tool, for preparation and execution. The catalog does not change while it is held.
   *
   * @throws {StaleCatalogError} when the tool is gone, or `matches` refuses what it is now
   */
  async lease(tool: string, matches: (current: JsonObject) => boolean, signal?: AbortSignal): Promise<ReadLease> {
    const lease = await this.#lock.read(signal)
    const current = this.#byName.get(tool)
    if (current !== undefined && matches(current)) return lease
    lease.release()
    throw new StaleCatalogError(this.#key, tool)
  }

  #replace(tools: readonly JsonObject[]): boolean {
    const byName = new Map(tools.map((tool) => [String(tool.name), tool]))
    if (this.#snapshot.revision > 0 && this.#sameTools(byName)) return false
    this.#byName = byName
    this.#snapshot = Object.freeze({ revision: this.#snapshot.revision + 1, tools })
    return true
  }

  #sameTools(byName: ReadonlyMap<string, JsonObject>): boolean {
    if (byName.size !== this.#byName.size) return false
    for (const [name, tool] of byName) if (!sameDefinition(tool, this.#byName.get(name))) return false
    return true
  }
}

/** Equal in every member; the order of members does not count. */
export function sameDefinition(a: JsonObject, b: JsonObject | undefined): boolean {
  return a === b || isDeepStrictEqual(a, b)
}
