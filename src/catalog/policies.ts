import type { PluginPolicy, Requirements } from '../config/index.js'
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

/** A registration as it goes to the builder: overlay first, then requirements, then the environment's authority. */
export function underPolicies(registration: Registration, policies: Policies): Registration {
  const { overlays, isTrusted, requirements, authorityOf } = policies
  const overlaid = overlays ? underPluginOverlay(registration, overlays, isTrusted) : registration
  const required = requirements ? underRequirements(overlaid, requirements) : overlaid
  return authorityOf ? underEnvironmentAuthority(required, authorityOf) : required
}
