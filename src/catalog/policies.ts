import type { PluginPolicy, Requirements } from '../config/index.js'
import { asContributed } from './contributed.js'
import { type EnvironmentAuthority, underEnvironmentAuthority } from './environment-authority.js'
import { underPluginOverlay } from './plugin-overlay.js'
import { underRequirements } from './requirements.js'
import type { Registration } from './types.js'

/** What the host and the environments say about servers; an absent part says nothing. */
export interface Policies {
  /** By plugin id. */
  readonly overlays?: ReadonlyMap<string, PluginPolicy>
  /** Pairs whose overlays may also loosen. */
  readonly isTrusted?: (environment: string, pluginId: string) => boolean
  readonly requirements?: Requirements
  /** By execution environment id. */
  readonly authorityOf?: (environment: string) => EnvironmentAuthority
}

/**
 * A registration as it goes to the builder: what its author may say, then the overlay, then the requirements, then the
 * authority of its environment.
 */
export function underPolicies(registration: Registration, policies: Policies): Registration {
  const { overlays, isTrusted, requirements, authorityOf } = policies
  const contributed = asContributed(registration)
  const overlaid = overlays ? underPluginOverlay(contributed, overlays, isTrusted) : contributed
  const required = requirements ? underRequirements(overlaid, requirements) : overlaid
  return authorityOf ? underEnvironmentAuthority(required, authorityOf) : required
}
