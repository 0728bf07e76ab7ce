import type { EffectiveServer } from '../catalog/index.js'
import type { ServerKey } from '../identity/index.js'
import type { StoredInventory } from './inventory.js'
import type { Lease } from './lease.js'

/** One server of a set: its configuration as this set has it, over a connection that other sets may hold too. Frozen. */
export interface View {
  readonly key: ServerKey
  readonly server: EffectiveServer
  /** Absent for a server that is switched off. */
  readonly lease: Lease | undefined
  /** What the durable cache had when the set was made. */
  readonly cached: StoredInventory | undefined
}

/**
 * What a server can be offered with now. `kept`: it went away and is being restarted, or its executor does not answer any
 * more, and what it had still stands. What went down with its environment is not offered (reference: known-quirks, 18).
 * `cached`: it is starting for the first time, and the cache knows it.
 */
export type OfferBasis = 'live' | 'kept' | 'cached' | 'none'

export function offerBasis({ lease, cached }: View): OfferBasis {
  if (lease === undefined) return 'none'
  const { state, offer } = lease.connection
  switch (state.state) {
    case 'ready':
      return lease.connection.reach.isOut ? 'kept' : 'live'
    case 'idle':
      return cached === undefined ? 'none' : 'cached'
    case 'starting':
      if (state.restart) return state.failures === 0 && offer.inventory !== undefined ? 'kept' : 'none'
      return state.failures === 0 && cached !== undefined ? 'cached' : 'none'
    case 'waiting':
      return state.failures === 0 && offer.inventory !== undefined ? 'kept' : 'none'
    default:
      return 'none'
  }
}
