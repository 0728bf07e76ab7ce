import type { Requirements } from '../config/index.js'
import { isHostOwnedApps } from './hosted-apps.js'
import { denied, isAllowed } from './requirements.js'
import type { Registration } from './types.js'

/** What an environment lets servers do in it (reference: catalog, 4). */
export type EnvironmentAuthority =
  | { readonly kind: 'unrestricted' }
  | { readonly kind: 'selected_plugins_only' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'restricted'; readonly policy: Requirements }

/** The reference knows no source here and says so in this form. */
const UNKNOWN_SOURCE = '<unspecified>'

/**
 * The registration, disabled if the environment it executes in does not let it. Asked before resolving, for enabled
 * registrations only, and never for the host's own hosted apps.
 *
 * @param authorityOf by execution environment id
 */
export function underEnvironmentAuthority(
  registration: Registration,
  authorityOf: (environment: string) => EnvironmentAuthority,
): Registration {
  if (!registration.config.enabled || isHostOwnedApps(registration)) return registration
  const authority = authorityOf(registration.config.environmentId)
  return lets(authority, registration) ? registration : denied(registration, UNKNOWN_SOURCE)
}

function lets(authority: EnvironmentAuthority, registration: Registration): boolean {
  switch (authority.kind) {
    case 'unrestricted':
      return true
    case 'selected_plugins_only':
      return registration.source.kind === 'selected_plugin'
    case 'unavailable':
      return false
    case 'restricted':
      return isAllowed(registration, authority.policy)
  }
}

/**
 * The answer for an environment by where a turn stands: one outside its selection takes anything if it is the default
 * environment, else only what selected plugins bring; a selection that came from the thread takes anything.
 *
 * @param ofTurn the answer of an environment that the turn itself selected
 */
export function environmentAuthority(
  place: 'outside_default' | 'outside' | 'of_thread' | 'of_turn',
  ofTurn: EnvironmentAuthority,
): EnvironmentAuthority {
  switch (place) {
    case 'outside_default':
    case 'of_thread':
      return { kind: 'unrestricted' }
    case 'outside':
      return { kind: 'selected_plugins_only' }
    case 'of_turn':
      return ofTurn
  }
}
