import type { AppPolicy } from './app-policy.js'
import { mergeEnvironments } from './environments/merge.js'
import type { EnvironmentsFile } from './environments/read-file.js'
import type { EnvironmentSettings } from './environments/settings.js'
import type { GatewayAuthSettings } from './gateway-auth.js'
import type { HookEntry, HookState } from './hooks/settings.js'
import { optional } from './optional.js'
import { mergePermissions } from './permissions/merge.js'
import type { PermissionSettings } from './permissions/settings.js'
import type { RuntimeAuthMode } from './runtime-auth-mode.js'
import type { ConfigOrigin, ConfiguredServer } from './server.js'
import type {
  AnalyticsSettings,
  AuditSettings,
  BrokerSettings,
  FileSettings,
  OAuthSettings,
  PluginPolicy,
} from './settings.js'

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
  /** `features.runtime_agent_instances`, of the user's own files. */
  readonly runtimeAuthMode: RuntimeAuthMode
  readonly plugins: ReadonlyMap<string, PluginPolicy>
  /** `[apps]`, by connector id. */
  readonly apps: ReadonlyMap<string, AppPolicy>
  readonly hooks: MergedHooks
  readonly audit: AuditSettings
  readonly analytics: AnalyticsSettings
  readonly oauth: OAuthSettings
  readonly broker: BrokerSettings
  readonly gatewayAuth?: GatewayAuthSettings
  /** `auto`, `none` or an absolute path. */
  readonly launcher: string
  readonly environments: EnvironmentSettings
  readonly permissions: PermissionSettings
  readonly suppressUnstableFeaturesWarning: boolean
}

/** The hooks of all layers. What is trusted is the user's to say, so a project's own states don't count. */
export interface MergedHooks {
  /** Of the requirements: run whatever the states say. Absent: none. */
  readonly managed?: readonly HookEntry[]
  readonly entries: readonly HookEntry[]
  readonly states: ReadonlyMap<string, HookState>
}

/** Whom the user trusts is not a project's to say. */
function trustedAsBefore({ trustedIn: _, ...policy }: PluginPolicy, own: PluginPolicy | undefined): PluginPolicy {
  return { ...policy, ...optional('trustedIn', own?.trustedIn) }
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
  const apps = new Map<string, AppPolicy>()
  let oauth: OAuthSettings = {}
  let broker: BrokerSettings = {}
  let audit: AuditSettings = {}
  let analytics: AnalyticsSettings = {}
  const hookStates = new Map<string, HookState>()
  let gatewayAuth: GatewayAuthSettings | undefined
  let launcher = 'auto'
  let runtimeAuthMode: RuntimeAuthMode = 'off'
  let suppress = false
  for (const { file, layer, settings } of layers) {
    const hide = (name: string, broken: boolean) => {
      const hidden = servers.get(name)
      if (hidden === undefined) return
      servers.delete(name)
      shadowed.push(Object.freeze({ name, origin: hidden.origin, by: { file, broken } }))
    }
    for (const name of settings.broken) hide(name, true)
    for (const server of settings.servers) {
      hide(server.name, false)
      servers.set(server.name, server)
    }
    for (const [name, on] of settings.features) features.set(name, on)
    for (const [id, policy] of settings.plugins)
      plugins.set(id, layer === 'project' ? trustedAsBefore(policy, plugins.get(id)) : policy)
    // Where tokens are kept and sent, and what runs for all projects, is the user's own choice, not a project's.
    if (layer !== 'project') {
      for (const [id, policy] of settings.apps) apps.set(id, policy)
      oauth = { ...oauth, ...settings.oauth }
      broker = { ...broker, ...settings.broker }
      audit = { ...audit, ...settings.audit }
      analytics = { ...analytics, ...settings.analytics }
      // Whole: an issuer of one file is not taken with the audience of another.
      gatewayAuth = settings.gatewayAuth ?? gatewayAuth
      for (const [key, state] of settings.hooks.states) hookStates.set(key, state)
      launcher = settings.launcher ?? launcher
      runtimeAuthMode = settings.runtimeAuthMode ?? runtimeAuthMode
    }
    suppress = settings.suppressUnstableFeaturesWarning ?? suppress
  }
  const environments = mergeEnvironments(
    environmentFiles,
    layers.map(({ settings }) => settings.environments),
  )
  return {
    servers: [...servers.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
    shadowed,
    features,
    runtimeAuthMode,
    plugins,
    apps,
    hooks: Object.freeze({ entries: layers.flatMap(({ settings }) => settings.hooks.entries), states: hookStates }),
    audit: Object.freeze(audit),
    analytics: Object.freeze(analytics),
    oauth: Object.freeze(oauth),
    broker: Object.freeze(broker),
    ...(gatewayAuth && { gatewayAuth }),
    launcher,
    environments,
    permissions: mergePermissions(
      layers.map(({ settings }) => settings.permissions),
      environments.entries,
    ),
    suppressUnstableFeaturesWarning: suppress,
  }
}
