import { isDeepStrictEqual } from 'node:util'
import type { ServerKey } from '../identity/index.js'
import type { Inventory } from './inventory.js'
import { type InventoryMembers, type InventoryPart, type ListingContext, listPart } from './inventory-listing.js'
import { lifetimeOf, PART_MEMBERS, withMembers, without } from './inventory-parts.js'
import type { Timers } from './timers.js'
import { ToolCatalog } from './tool-catalog.js'

/** Who is told of a new inventory, after it was published. */
export interface OfferListener {
  onPublished(inventory: Inventory): void
  onChanged(part: InventoryPart): void
}

/** What one server offers: the newest whole inventory, and the tools as a catalog that calls hold on to. */
export class ServerOffer {
  readonly catalog: ToolCatalog
  readonly #listener: OfferListener
  readonly #timers: Timers
  /** When each part was listed last, or was to be. */
  readonly #listedAt = new Map<InventoryPart, number>()
  #inventory: Inventory | undefined

  constructor(key: ServerKey, timers: Timers, listener: OfferListener) {
    this.catalog = new ToolCatalog(key, timers)
    this.#timers = timers
    this.#listener = listener
  }

  /** The newest one listed, also after the server went away; `undefined` before the first. Frozen. */
  get inventory(): Inventory | undefined {
    return this.#inventory
  }

  /** After a start: everything at once. Returns the parts that differ from before. */
  async publish(inventory: Inventory): Promise<readonly InventoryPart[]> {
    const before = this.#inventory
    const toolsChanged = await this.catalog.publish(inventory.tools)
    this.#inventory = inventory
    for (const part of PARTS) this.#listedAt.set(part, this.#timers.now())
    this.#listener.onPublished(inventory)
    return [
      ...(toolsChanged ? (['tools'] as const) : []),
      ...(['resources', 'prompts'] as const).filter((part) => differs(part, before, inventory)),
    ]
  }

  /** Lists one part anew. Resolves to whether it changed; a listing that fails is a warning and changes nothing. */
  async refresh(part: InventoryPart, context: ListingContext, failed: (error: unknown) => void): Promise<boolean> {
    try {
      return await this.merge(part, await listPart(part, context))
    } catch (error) {
      failed(error)
      return false
    }
  }

  /**
   * The parts whose time ran out. Each is told once for each time that it was listed. A server that gives no time, or
   * none at all, is not asked again and again.
   */
  takeExpired(): readonly InventoryPart[] {
    const inventory = this.#inventory
    if (inventory === undefined) return []
    const now = this.#timers.now()
    const expired = PARTS.filter((part) => {
      const lifetime = lifetimeOf(part, inventory) ?? 0
      return lifetime > 0 && now - (this.#listedAt.get(part) ?? now) >= lifetime
    })
    for (const part of expired) this.#listedAt.set(part, now)
    return expired
  }

  /** Takes the members of one part into the inventory. */
  async merge(part: InventoryPart, members: Partial<InventoryMembers>): Promise<boolean> {
    const before = this.#inventory
    if (before === undefined) return false
    const merged = withMembers(before, { tools: before.tools }, members)
    this.#listedAt.set(part, this.#timers.now())
    const changed =
      part === 'tools' && members.tools !== undefined
        ? await this.catalog.publish(members.tools)
        : differs(part, before, merged)
    // Another part may have been published while the catalog waited for its calls.
    const { tools } = this.#inventory ?? before
    this.#inventory = withMembers(without(part, this.#inventory ?? before), { tools }, members)
    if (!changed) return false
    this.#listener.onPublished(this.#inventory)
    this.#listener.onChanged(part)
    return true
  }
}

const PARTS = ['tools', 'resources', 'prompts'] as const

/** The parts of two inventories that differ. */
export function differingParts(a: Inventory | undefined, b: Inventory | undefined): readonly InventoryPart[] {
  return PARTS.filter((part) => differs(part, a, b))
}

function differs(part: InventoryPart, a: Inventory | undefined, b: Inventory | undefined): boolean {
  return PART_MEMBERS[part].some((member) => !isDeepStrictEqual(a?.[member], b?.[member]))
}
