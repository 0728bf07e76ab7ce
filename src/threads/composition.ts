import {
  type CatalogProblem,
  type EffectiveServer,
  type EnvironmentAuthority,
  effectiveRoots,
  effectiveServers,
  type PermissionAuthority,
  permissionAuthorities,
  type ReadonlyKeyMap,
  type ShadowedServer,
  threadCatalog,
} from '../catalog/index.js'
import type { EnvironmentSettings, LoadedConfig, RuntimeAuthMode } from '../config/index.js'
import type { CapabilityRoot, DiscoveryFeatures, EnvironmentCapabilities } from '../environments/index.js'
import { LOCAL_ENVIRONMENT, serverKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { AppsSettings, HostedApps } from './apps/thread-apps.js'
import { type ConfiguredPermissions, governingProfiles } from './governing-profiles.js'
import type { ThreadProblem } from './problem-report.js'
import type { SelectedPlace } from './selection.js'

/** What a runtime's configuration means for its threads. Immutable; a reload makes another. */
export interface ThreadConfiguration {
  readonly loaded: Pick<LoadedConfig, 'servers' | 'plugins' | 'requirements' | 'hooks'>
  readonly settings: EnvironmentSettings
  /** `multi_environment_mcp`. */
  readonly multiEnvironment: boolean
  /** False with `non_prefixed_mcp_tool_names`: namespaces without `mcp__`. */
  readonly prefixedNames: boolean
  readonly discovery: DiscoveryFeatures
  readonly permissions: ConfiguredPermissions
  /** `features.runtime_agent_instances`, for threads that begin now. */
  readonly runtimeAuthMode: RuntimeAuthMode
  readonly apps: AppsSettings
}

/**
 * A permission profile in its wire shape, its workspace roots as absolute paths; null where nothing is known of what the
 * runtime itself may do.
 */
export type Profile = JsonObject | null

/** A thread's servers, and everything that goes with each. Frozen. */
export interface Composition {
  readonly servers: readonly EffectiveServer[]
  readonly authorities: ReadonlyKeyMap<PermissionAuthority<Profile>>
  readonly problems: readonly ThreadProblem[]
  /** Servers that another one hides, as in the reference. */
  readonly hidden: readonly ShadowedServer[]
}

export interface CompositionParts {
  readonly configuration: ThreadConfiguration
  readonly places: readonly SelectedPlace[]
  /** The thread's own; those of the configuration follow. */
  readonly roots: readonly CapabilityRoot[]
  /** By environment; those not looked into yet are absent. */
  readonly found: ReadonlyMap<string, EnvironmentCapabilities>
  /** Ids that there are. */
  readonly known: readonly string[]
  /** As the reference does where it decides in silence. */
  readonly compatibility: boolean
  /** Of the thread, on the host. */
  readonly threadCwd: string
  /** Those of the thread's account, as it is now. */
  readonly apps: HostedApps
}

/** Puts together what a thread has: configuration, plugins of the selected environments, policies, profiles. Pure. */
export function compose(parts: CompositionParts): Composition {
  const { configuration, places, found, compatibility } = parts
  const { loaded, multiEnvironment } = configuration
  const usable = selectedRoots(parts)
  const environments = places.flatMap(({ id }) => found.get(id) ?? [])
  const catalog = threadCatalog(
    {
      servers: loaded.servers,
      environments,
      roots: usable.roots,
      policies: {
        overlays: loaded.plugins,
        isTrusted: (environment, plugin) => loaded.plugins.get(plugin)?.trustedIn?.includes(environment) ?? false,
        ...(loaded.requirements && { requirements: loaded.requirements }),
        authorityOf: (environment) => authorityIn(environment, parts),
      },
      hostedApps: parts.apps.registration,
    },
    { multiEnvironment, compatibility },
  )
  const servers = effectiveServers(catalog, parts.apps.account)
  const profiles = governingProfiles({ places, permissions: configuration.permissions, threadCwd: parts.threadCwd })
  return Object.freeze({
    servers,
    authorities: permissionAuthorities(servers, profiles),
    hidden: compatibility && multiEnvironment ? catalog.shadowed : [],
    problems: Object.freeze([
      ...usable.problems,
      ...environments.flatMap((one) => one.problems),
      ...catalog.problems,
      ...profiles.problems,
      ...unselectedProblems(parts),
    ]),
  })
}

/** The roots that are looked for. */
export function selectedRoots({
  roots,
  configuration: { settings },
  places,
}: Pick<CompositionParts, 'roots' | 'configuration' | 'places'>) {
  return effectiveRoots(
    roots,
    settings.capabilityRoots,
    places.map(({ id }) => id),
  )
}

/**
 * Whether servers may run there. The host, the default environment and what the thread selected take anything; another
 * environment takes only what selected plugins bring (reference: catalog, 4). One that is not there is let through, so
 * that its servers fail with that reason.
 */
function authorityIn(environment: string, { configuration, places, known }: CompositionParts): EnvironmentAuthority {
  const [byDefault] = configuration.settings.defaultSelection
  const open =
    environment === LOCAL_ENVIRONMENT ||
    environment === byDefault ||
    !known.includes(environment) ||
    places.some(({ id }) => id === environment)
  return open ? { kind: 'unrestricted' } : { kind: 'selected_plugins_only' }
}

/** Thread-wide servers that are placed where this thread does not work (reference: known-quirks, 42). */
function unselectedProblems({ configuration, places, known }: CompositionParts): readonly CatalogProblem[] {
  return configuration.loaded.servers.flatMap(({ name, config: { enabled, environmentId } }): CatalogProblem[] => {
    if (!enabled || environmentId === LOCAL_ENVIRONMENT || places.some(({ id }) => id === environmentId)) return []
    const why = known.includes(environmentId) ? 'is not selected in this thread' : 'is not configured'
    const message = `MCP server '${name}' can't be used: its environment ${environmentId} ${why}`
    return [{ code: 'unselected_environment', key: serverKey(name), message }]
  })
}
