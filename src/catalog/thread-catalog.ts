import type { ConfiguredServer } from '../config/index.js'
import type { CapabilityRoot, EnvironmentCapabilities } from '../environments/index.js'
import { serverKey } from '../identity/index.js'
import { type Catalog, CatalogBuilder } from './catalog.js'
import { type Policies, underPolicies } from './policies.js'
import { underRequirements } from './requirements.js'
import type { CatalogOptions, Registration } from './types.js'

/** Everything that a thread's servers come from. */
export interface ThreadCatalogParts {
  /** Of the host's configuration: thread-wide. */
  readonly servers: readonly Pick<ConfiguredServer, 'name' | 'config'>[]
  /** What the selected environments offer, in the order of the selection. */
  readonly environments?: readonly EnvironmentCapabilities[]
  /** The roots that were looked for, from `effectiveRoots`: their order decides between plugins. */
  readonly roots?: readonly CapabilityRoot[]
  readonly policies?: Policies
  /** The hosted apps, where the thread has them. */
  readonly hostedApps?: Registration | undefined
}

/**
 * The catalog of a thread: the host's servers, and those of the environments' plugins and own configurations, each under
 * the policies and then resolved (reference: catalog, 3 and 9.3). Plugins of selected roots come before installed ones.
 * What is not used as it was asked for is in `problems`.
 *
 * @example
 * ```ts
 * const found = await finder.find({ places, roots, features, policies: overlays }, { signal })
 * const catalog = threadCatalog({ servers: config.servers, environments: found, roots, policies }, { multiEnvironment: true })
 * const servers = effectiveServers(catalog)
 * ```
 */
export function threadCatalog(
  { servers, environments = [], roots = [], policies = {}, hostedApps }: ThreadCatalogParts,
  options: CatalogOptions = {},
): Catalog {
  const builder = new CatalogBuilder(options)
  const registrations = [
    ...servers.map(configured),
    ...pluginRegistrations(environments, roots),
    ...environments.flatMap(ofExecutorConfig),
    ...(hostedApps === undefined ? [] : [hostedApps]),
  ]
  for (const registration of registrations) builder.register(underPolicies(registration, policies))
  return builder.build()
}

function configured({ name, config }: Pick<ConfiguredServer, 'name' | 'config'>): Registration {
  return { key: serverKey(name), source: { kind: 'config' }, config }
}

/** One order over all environments: with the feature off it decides whose server a name is. */
function pluginRegistrations(
  environments: readonly EnvironmentCapabilities[],
  roots: readonly CapabilityRoot[],
): Registration[] {
  const rankOf = new Map(roots.map(({ id, environment }, rank) => [rootText(id, environment), rank]))
  const plugins = environments.flatMap((found) => found.plugins)
  const ranked = plugins.map((plugin) => ({
    plugin,
    rank: rankOf.get(rootText(plugin.id, plugin.environment)) ?? roots.length,
  }))
  ranked.sort((a, b) => a.rank - b.rank)
  return ranked.flatMap(({ plugin: { id, displayName, agentPlugin, environment, servers } }, order) =>
    [...servers].map(([name, config]) => ({
      key: serverKey(name, environment),
      source: { kind: 'selected_plugin' as const, order, plugin: { id, displayName, agentPlugin } },
      config,
    })),
  )
}

/** In the tier of configurations, so that it wins over the environment's plugins (reference: known-quirks, 11). */
function ofExecutorConfig(found: EnvironmentCapabilities): Registration[] {
  const { environment, executorServers, executorRequirements = [] } = found
  return [...executorServers].map(([name, config]) =>
    executorRequirements.reduce<Registration>(underRequirements, {
      key: serverKey(name, environment),
      source: { kind: 'config' },
      config,
    }),
  )
}

function rootText(id: string, environment: string): string {
  return JSON.stringify([environment, id])
}
