import { type EnvironmentAuthority, underEnvironmentAuthority } from './environment-authority.js'
import { type PluginOverlay, underPluginOverlay } from './plugin-overlay.js'
import { type ManagedRequirements, underRequirements } from './requirements.js'
import type { Registration } from './types.js'

/** What the host and the environments say about servers; an absent part says nothing. */
export interface Policies {
  /** By plugin id. */
  readonly overlays?: ReadonlyMap<string, PluginOverlay>
  /** Pairs whose overlays may also loosen. */
  readonly isTrusted?: (environment: string, pluginId: string) => boolean
  readonly requirements?: ManagedRequirements
  /** By execution environment id. */
  readonly authorityOf?: (environment: string) => EnvironmentAuthority
}

/** A registration as it goes to the builder: overlay first, then requirements, then the environment's authority. */
export function underPolicies(registration: Registration, policies: Policies): Registration {
  const { overlays, isTrusted, requirements, authorityOf } = policies
  const overlaid = overlays ? underPluginOverlay(registration, overlays, isTrusted) : registration
  const required = requirements ? underRequirements(overlaid, requirements) : overlaid
  return authorityOf ? underEnvironmentAuthority(required, authorityOf) : required
}
