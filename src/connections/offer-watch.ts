import { type ServerKey, ServerKeyMap } from '../identity/index.js'
import type { InventoryPart } from './inventory-listing.js'
import type { ConnectionSet } from './set.js'
import type { ConnectionEvent } from './types.js'
import { offerBasis, type View } from './view.js'

const PARTS = ['tools', 'resources', 'prompts'] as const

/** Tells when a server's offer comes or goes as a whole: a start that fails, a crash that can't be mended, a removal. */
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

  changed(view: View): void {
    const offered = offerBasis(view) !== 'none'
    const before = this.#offered.get(view.key) ?? false
    if (offered === before) return
    this.#offered.set(view.key, offered)
    this.#changed(view, partsOf(view))
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
