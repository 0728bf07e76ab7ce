import type { PluginPolicy, Requirements, ServerConfig } from '../../config/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { PlacedEnvironment } from '../registry/types.js'

/** A plugin folder in an environment, by an id of its own (reference: catalog, 9.1). */
export interface CapabilityRoot {
  readonly id: string
  readonly environment: string
  /** Absolute, in the environment's own form. */
  readonly path: string
}

/** A plugin that was read through its environment. Frozen. */
export interface DiscoveredPlugin {
  /** The root's id, or `plugin@marketplace` for an installed one. */
  readonly id: string
  readonly displayName: string
  /** Agent Plugins 1.0: its HTTP servers follow the stricter redirect mode. */
  readonly agentPlugin: boolean
  readonly environment: string
  readonly path: string
  /** By name, in the file's order; as the plugin says, without overlays. */
  readonly servers: ReadonlyMap<string, ServerConfig>
}

/** A fault that stops only what it names; each is told once per cause. */
export interface DiscoveryProblem {
  readonly code:
    | 'environment_unavailable'
    | 'root_unreadable'
    | 'sandbox_unavailable'
    | 'invalid_permission_profile'
    | 'profile_not_allowed'
    | 'not_a_plugin'
    | 'broken_manifest'
    | 'invalid_plugin_server'
    | 'plugin_warning'
    | 'broken_executor_config'
    | 'stdio_skipped'
    | 'discovery_failed'
  readonly environment: string
  /** The root's or plugin's id, where there is one. */
  readonly plugin?: string
  readonly server?: string
  /** The file or folder there. */
  readonly path?: string
  readonly message: string
}

/** What one environment was found to offer. */
export interface EnvironmentCapabilities {
  readonly environment: string
  /** Of the selected roots, in their order, then installed ones by id. */
  readonly plugins: readonly DiscoveredPlugin[]
  /** HTTP servers of the executor's own configuration; they have no plugin. */
  readonly executorServers: ReadonlyMap<string, ServerConfig>
  /** What the executor's administrator demands of `executorServers`; absent where nothing is demanded. */
  readonly executorRequirements?: readonly Requirements[]
  readonly problems: readonly DiscoveryProblem[]
}

/** A selected environment to look into, and the folder its thread works in there. */
export interface DiscoveryPlace extends PlacedEnvironment {
  /** Absolute, in the environment's own form. Absent: the user's home there. */
  readonly cwd?: string
  /** Absolute, in the environment's own form: the roots of the thread's work there. */
  readonly workspaceRoots?: readonly string[]
  /** The permission profile that governs the place, as it was handed over. Absent: nothing there is restricted. */
  readonly permissions?: JsonObject
}

/** What an executor may be asked beyond its files; each also needs the executor's own flag. */
export interface DiscoveryFeatures {
  /** `executor_capability_discovery`: all roots of an executor in one request. */
  readonly rootsInOneRequest?: boolean
  /** `executor_capability_discovery` and `executor_capability_discovery_v2`: plugins installed on the executor. */
  readonly installedPlugins?: boolean
  /** `multi_environment_mcp`: HTTP servers of the executor's own configuration. */
  readonly executorConfig?: boolean
}

/** One look at everything that a thread selected. */
export interface CapabilityRequest {
  /** In the order of the selection. */
  readonly places: readonly DiscoveryPlace[]
  /** From `effectiveRoots`, in order. Those of environments that are not in `places` are left alone. */
  readonly roots: readonly CapabilityRoot[]
  readonly features?: DiscoveryFeatures
  /** Of the host's configuration: an installed plugin counts only when it is enabled here. */
  readonly policies?: ReadonlyMap<string, PluginPolicy>
}

/** Finds what environments offer, for one thread. */
export interface CapabilitySource {
  /**
   * One entry a place, in order. Every environment is asked at the same time and for itself: one that does not answer in
   * `timeoutMs` (10,000) has a problem, delays no other, and is asked again by the next call. What was read well is kept
   * until `forget`. Raises `CancelledError` alone.
   */
  find(
    request: CapabilityRequest,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
  ): Promise<readonly EnvironmentCapabilities[]>
  /** Reads everything anew at the next call, as a reload does (reference: known-quirks, 23). */
  forget(): void
}
