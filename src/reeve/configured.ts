import { type Launchers, withTrustProblems } from '../authority/index.js'
import { configuredCatalog, type EffectiveServer, effectiveServers } from '../catalog/index.js'
import { type AnalyticsSettings, type LoadedConfig, loadConfig, userHome } from '../config/index.js'
import type { ThreadConfiguration } from '../threads/index.js'
import type { RuntimeParts } from './parts.js'

/** What a runtime works by, as last loaded. */
export interface Configured {
  readonly loaded: LoadedConfig
  /** Outside any thread. */
  readonly servers: readonly EffectiveServer[]
  readonly threads: ThreadConfiguration
  readonly launchers: Launchers
}

/** What the program says counts over the configuration. */
export function analyticsSettings({ options }: RuntimeParts, { loaded }: Configured): AnalyticsSettings {
  return { ...loaded.analytics, ...options.analytics }
}

/** @param before Launchers are looked for once, unless the setting is another. */
export async function configure({ host, cwd, options }: RuntimeParts, before?: Configured): Promise<Configured> {
  const { home, env } = host
  const loaded = withTrustProblems(
    await loadConfig({ home, cwd, env, ...(options.configFiles && { files: options.configFiles }) }),
  )
  const isOn = (feature: string) =>
    options.features?.[feature] ?? loaded.features.get(feature) ?? options.featureDefaults?.[feature] ?? false
  const multiEnvironment = isOn('multi_environment_mcp')
  const rootsInOneRequest = isOn('executor_capability_discovery')
  const installedPlugins = rootsInOneRequest && isOn('executor_capability_discovery_v2')
  const isSame = before?.loaded.launcher === loaded.launcher
  return {
    loaded,
    launchers: isSame ? before.launchers : await host.launchers(loaded.launcher),
    servers: effectiveServers(configuredCatalog(loaded, { multiEnvironment })),
    threads: {
      loaded,
      settings: loaded.environments,
      permissions: { settings: loaded.permissions, home: userHome(env) },
      multiEnvironment,
      prefixedNames: !isOn('non_prefixed_mcp_tool_names'),
      runtimeAuthMode: loaded.runtimeAuthMode,
      apps: { isOn: isOn('apps'), authElicitation: isOn('auth_elicitation'), policies: loaded.apps },
      discovery: { rootsInOneRequest, installedPlugins, executorConfig: multiEnvironment },
    },
  }
}
