import { type ServerKey, ServerKeyMap } from '../identity/index.js'
import type { InventoryPart } from './inventory-listing.js'
import type { ConnectionSet } from './set.js'
import type { ConnectionEvent } from './types.js'
import { offerBasis, type View } from './view.js'

const PARTS = ['tools', 'resources', 'prompts'] as const

/**
 * Tells when a server's offer comes or goes as a whole: a start, one that fails, a crash that can't be mended, a removal.
 * Each part is told once, whether it came with the whole or differs from before.
 */
export class OfferWatch {
  readonly #emit: (event: ConnectionEvent) => void
  readonly #offered = new ServerKeyMap<boolean>()

  constructor(emit: (event: ConnectionEvent) => void) {
    this.#emit = emit
  }

  published(before: ConnectionSet, set: ConnectionSet): void {
    for (const view of before.views) {
      if (set.view(view.key) !== undefined) continue
      if (this.#offered.get(view.key) === true) this.#changed(view, PARTS)
      this.#offered.delete(view.key)
    }
    for (const view of set.views) this.changed(view)
  }

  /** `parts`: those that differ from before, of an offer that was there before. */
  changed(view: View, parts: readonly InventoryPart[] = []): void {
    const offered = offerBasis(view) !== 'none'
    const before = this.#offered.get(view.key) ?? false
    this.#offered.set(view.key, offered)
    this.#changed(view, offered === before ? parts : partsOf(view))
  }

  #changed({ key }: { readonly key: ServerKey }, parts: readonly InventoryPart[]): void {
    for (const what of parts) this.#emit({ type: 'inventory_changed', key, what })
  }
}

function partsOf({ lease, cached }: View): readonly InventoryPart[] {
  const inventory = lease?.connection.offer.inventory ?? cached?.inventory
  if (inventory === undefined) return PARTS
  return PARTS.filter((part) => (inventory[part]?.length ?? 0) > 0)
}
