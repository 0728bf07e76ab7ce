import { mergeEnvironments } from './environments/merge.js'
import type { EnvironmentsFile } from './environments/read-file.js'
import type { EnvironmentSettings } from './environments/settings.js'
import type { GatewayAuthSettings } from './gateway-auth.js'
import type { HookEntry, HookState } from './hooks/settings.js'
import type { ConfigOrigin, ConfiguredServer } from './server.js'
import { optional } from './optional.js'
import type { RuntimeAuthMode } from './runtime-auth-mode.js'
import type { AuditSettings, BrokerSettings, FileSettings, OAuthSettings, PluginPolicy } from './settings.js'

/** An entry that is not used because a later layer has the same name. */
export interface ShadowedServer {
  readonly name: string
  readonly origin: ConfigOrigin
  /** What counts instead. `broken`: that entry is an error, so the name has no server at all. */
  readonly by: { readonly file: string; readonly broken: boolean }
}

export interface LayerSettings {
  readonly file: string
  readonly layer: ConfigOrigin['layer']
  readonly settings: FileSettings
}

export interface MergedSettings {
  readonly servers: readonly ConfiguredServer[]
  readonly shadowed: readonly ShadowedServer[]
  readonly features: ReadonlyMap<string, boolean>
  readonly plugins: ReadonlyMap<string, PluginPolicy>
  /** `features.runtime_agent_instances`, of the user's own files. */
  readonly runtimeAuthMode: RuntimeAuthMode
  readonly hooks: MergedHooks
  readonly audit: AuditSettings
  readonly oauth: OAuthSettings
  readonly broker: BrokerSettings
  /** `auto`, `none` or an absolute path. */
  readonly gatewayAuth?: GatewayAuthSettings
  readonly launcher: string
  readonly environments: EnvironmentSettings
  readonly suppressUnstableFeaturesWarning: boolean
}

/** The hooks of all layers. What is trusted is the user's to say, so a project's own states don't count. */
export interface MergedHooks {
  readonly entries: readonly HookEntry[]
  readonly states: ReadonlyMap<string, HookState>
}

/** Puts layers on each other, lowest first. A later layer wins by the whole entry, never by single members. */
export function mergeLayers(
  layers: readonly LayerSettings[],
  environmentFiles: readonly EnvironmentsFile[] = [],
): MergedSettings {
  const servers = new Map<string, ConfiguredServer>()
  const shadowed: ShadowedServer[] = []
  const features = new Map<string, boolean>()
  const plugins = new Map<string, PluginPolicy>()
  let oauth: OAuthSettings = {}
  let broker: BrokerSettings = {}
  let audit: AuditSettings = {}
  const hookStates = new Map<string, HookState>()
  let launcher = 'auto'
  let suppress = false
  for (const { file, layer, settings } of layers) {
    const hide = (name: string, broken: boolean) => {
      const hidden = servers.get(name)
      if (hidden === undefined) return
      servers.delete(name)
      shadowed.push(Object.freeze({ name, origin: hidden.origin, by: { file, broken } }))
  let gatewayAuth: GatewayAuthSettings | undefined
    }
    for (const name of settings.broken) hide(name, true)
    for (const server of settings.servers) {
  let runtimeAuthMode: RuntimeAuthMode = 'off'
      hide(server.name, false)
      servers.set(server.name, server)
    }
    for (const [name, on] of settings.features) features.set(name, on)
    for (const [id, policy] of settings.plugins) plugins.set(id, policy)
    // Where tokens are kept and sent, and what runs for all projects, is the user's own choice, not a project's.
    if (layer !== 'project') {
      oauth = { ...oauth, ...settings.oauth }
      broker = { ...broker, ...settings.broker }
      audit = { ...audit, ...settings.audit }
      for (const [key, state] of settings.hooks.states) hookStates.set(key, state)
      launcher = settings.launcher ?? launcher
    }
    suppress = settings.suppressUnstableFeaturesWarning ?? suppress
  }
  return {
    servers: [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
    shadowed,
    features,
      // Whole: an issuer of one file is not taken with the audience of another.
      gatewayAuth = settings.gatewayAuth ?? gatewayAuth
    plugins,
    hooks: Object.freeze({ entries: layers.flatMap(({ settings }) => settings.hooks.entries), states: hookStates }),
    audit: Object.freeze(audit),
    oauth: Object.freeze(oauth),
    broker: Object.freeze(broker),
    launcher,
      runtimeAuthMode = settings.runtimeAuthMode ?? runtimeAuthMode
    environments: mergeEnvironments(
      environmentFiles,
      layers.map(({ settings }) => settings.environments),
    ),
    suppressUnstableFeaturesWarning: suppress,
  }
}
    runtimeAuthMode,
    ...(gatewayAuth && { gatewayAuth }),
