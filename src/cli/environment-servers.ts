import type { LoadedConfig } from '../config/index.js'
import { GATEWAY_FEATURES } from '../gateway/index.js'
import { LOCAL_ENVIRONMENT } from '../identity/index.js'

/** As the threads of the command line have it. */
export function isFeatureOn({ features }: LoadedConfig, feature: string): boolean {
  return features.get(feature) ?? GATEWAY_FEATURES[feature] ?? false
}

/**
 * Whether there may be servers beside those of the configuration: hosted apps of whoever is signed in, and those of the
 * environments that are selected by default, by plugins or configuration there (reference: catalog, 7 and 9). Which, only
 * they can say.
 */
export function mayHaveServers(config: LoadedConfig): boolean {
  const { defaultSelection, capabilityRoots } = config.environments
  const asksExecutors =
    isFeatureOn(config, 'multi_environment_mcp') || isFeatureOn(config, 'executor_capability_discovery_v2')
  return (
    isFeatureOn(config, 'apps') ||
    capabilityRoots.some(({ environment }) => defaultSelection.includes(environment)) ||
    (asksExecutors && defaultSelection.some((id) => id !== LOCAL_ENVIRONMENT))
  )
}
