import { type ServerKey, ServerKeyMap } from '../identity/index.js'
import type { Grace } from './grace.js'
import type { Ending } from './lease.js'
import type { View } from './view.js'

/** What one publication made of the effective servers. It never changes; another publication is another set. */
export class ConnectionSet {
  readonly views: readonly View[]
  readonly grace: Grace
  readonly #byKey: ServerKeyMap<View>

  constructor(views: readonly View[], grace: Grace) {
    this.views = Object.freeze([...views])
    this.grace = grace
    this.#byKey = new ServerKeyMap(views.map((view) => [view.key, view] as const))
  }

  view(key: ServerKey): View | undefined {
    return this.#byKey.get(key)
  }

  /** Those that are switched on. */
  get enabled(): readonly (View & { readonly lease: NonNullable<View['lease']> })[] {
    return this.views.filter((view): view is View & { lease: NonNullable<View['lease']> } => view.lease !== undefined)
  }

  /** Gives every lease back. Resolves when what that closed is gone. */
  async release(how: Ending): Promise<void> {
    await Promise.all(this.enabled.map(({ lease }) => lease.release(how)))
  }
}
