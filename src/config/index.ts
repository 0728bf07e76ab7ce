export { parseCodexConfig } from './codex-config.js'
export { type AddOutcome, addServer, putServers, removeServer, setEnabled, setTrust } from './edit/servers.js'
export { type Environment, escapeVariables } from './expand.js'
export { managedRequirementsFile, reeveHome, userHome } from './home.js'
export { type ConfigFile, type LoadConfigOptions, type LoadedConfig, loadConfig } from './load.js'
export { MASK, maskServer, maskUrl } from './mask.js'
export type { ShadowedServer } from './merge.js'
export { nearest } from './nearest.js'
export { type ExecutorConfig, readExecutorConfig } from './plugins/executor-config.js'
export {
  PLUGIN_MANIFESTS,
  type PluginManifest,
  type PluginServersSource,
  readPluginManifest,
} from './plugins/manifest.js'
export { type PluginPlace, type PluginServers, readPluginServers } from './plugins/servers.js'
export type { Requirements, ServerIdentity, ServerMatcher, ValueMatcher } from './requirements.js'
export * from './server.js'
export type { OAuthSettings, PluginPolicy, PluginServerPolicy } from './settings.js'
export type { Position, Raw, RawTable } from './source/raw.js'
export { fullEntry, referenceGetEntry, referenceListEntry, type StaticAuthStatus, staticAuthStatus } from './view.js'
