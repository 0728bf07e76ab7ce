import type { ServerConfig } from '../../config/index.js'

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
  readonly problems: readonly DiscoveryProblem[]
}
