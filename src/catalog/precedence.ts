import type { ServerKey } from '../identity/index.js'
import type { CatalogAction, RegistrationSource, Removal } from './types.js'

const TIERS = { host_plugin: 0, selected_plugin: 1, config: 2, compatibility: 3, extension: 4 } as const

/** 0 is the weakest (reference: catalog, 2). */
export function tierOf(source: RegistrationSource | Removal['source']): number {
  return TIERS[source.kind]
}

/**
 * Weaker first: by tier, then by the order rule of the tier. Among plugins the lower number is stronger, among extensions
 * the higher, and of two configurations the host's. Equals stay as they came, so that a stable sort leaves the later
 * insertion stronger; ids never break a tie.
 */
export function comparePrecedence(a: CatalogAction, b: CatalogAction): number {
  return tierOf(sourceOf(a)) - tierOf(sourceOf(b)) || rank(a) - rank(b)
}

export function sourceOf(action: CatalogAction): RegistrationSource | Removal['source'] {
  return action.kind === 'register' ? action.registration.source : action.removal.source
}

export function keyOf(action: CatalogAction): ServerKey {
  return action.kind === 'register' ? action.registration.key : action.removal.key
}

function rank(action: CatalogAction): number {
  const source = sourceOf(action)
  switch (source.kind) {
    case 'host_plugin':
    case 'selected_plugin':
      return -source.order
    case 'extension':
      return source.order
    case 'config':
      return keyOf(action).environment === null ? 1 : 0
    default:
      return 0
  }
}
