import type { LoadedConfig } from '../config/index.js'
import { GATEWAY_FEATURES } from '../gateway/index.js'
import { LOCAL_ENVIRONMENT } from '../identity/index.js'

/** As the threads of the command line have it. */
export function isFeatureOn({ features }: LoadedConfig, feature: string): boolean {
  return features.get(feature) ?? GATEWAY_FEATURES[feature] ?? false
}

/**
 * Whether the environments that are selected by default may have servers of their own, by plugins or configuration there
 * (reference: catalog, 7 and 9). Which, only they can say.
 */
export function mayHaveServers(config: LoadedConfig): boolean {
  const { defaultSelection, capabilityRoots } = config.environments
  const asksExecutors =
    isFeatureOn(config, 'multi_environment_mcp') || isFeatureOn(config, 'executor_capability_discovery_v2')
  return (
    capabilityRoots.some(({ environment }) => defaultSelection.includes(environment)) ||
    (asksExecutors && defaultSelection.some((id) => id !== LOCAL_ENVIRONMENT))
  )
}
