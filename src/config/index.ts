// What every start needs. `list` is measured against a bare `node`, so the rest is loaded when it is used.
export type { AppPolicy, AppToolPolicy } from './app-policy.js'
export { parseCodexConfig } from './codex-config.js'
export type { AddOutcome } from './edit/index.js'
export { CONNECTING_VARIABLES, connectingVariables } from './environments/host-variables.js'
export { environmentIdFault, environmentUrlFault, type RuleFault } from './environments/rules.js'
export * from './environments/settings.js'
export { type Environment, escapeVariables } from './expand.js'
export type { GatewayAuthSettings } from './gateway-auth.js'
export { FURTHER_REQUIREMENTS, managedRequirementsFile, reeveHome, userHome } from './home.js'
export { isExactMatcher, LONGEST_MATCHER, matcherFault, matchesAll } from './hooks/matcher.js'
export * from './hooks/settings.js'
export type * from './import/index.js'
export { type ConfigFile, type LoadConfigOptions, type LoadedConfig, loadConfig } from './load.js'
export { MASK, maskConnection, maskJsonText, maskServer, maskUrl } from './mask.js'
export type { MergedHooks, ShadowedServer } from './merge.js'
export { nearest } from './nearest.js'
export { type ResolvedProfile, resolvedFor } from './permissions/resolve.js'
export {
  isProfileName,
  NO_PERMISSIONS,
  type PermissionSettings,
  profileNames,
  type SandboxMode,
  type WorkspaceWriteSettings,
} from './permissions/settings.js'
export type * from './plugins/index.js'
export { findProject, PROJECT_CONFIG, type Project, realPath, shellWord } from './project.js'
export type { Requirements, ServerIdentity, ServerMatcher, ValueMatcher } from './requirements.js'
export type { ManagedApprovals } from './requirements-approvals.js'
export type { ManagedPermissions, PolicyName } from './requirements-permissions.js'
export { RUNTIME_FEATURE, type RuntimeAuthMode, runtimeModeOf } from './runtime-auth-mode.js'
export { configSchema } from './schema/sections.js'
export * from './server.js'
export type {
  AnalyticsSettings,
  AuditSettings,
  BrokerSettings,
  OAuthSettings,
  PluginPolicy,
  PluginServerPolicy,
} from './settings.js'
export type { Position, Raw, RawTable } from './source/raw.js'
export { errnoOf } from './source/read-text.js'
export { replaceFile } from './source/replace-file.js'
export type { TokenExchangeSettings } from './token-exchange.js'
export {
  fullEntry,
  referenceGetEntry,
  referenceListEntry,
  type StaticAuthStatus,
  staticAuthStatus,
  variablesCell,
} from './view.js'

/** Edits of `config.toml`: `addServer`, `putServers`, `removeServer`, `setEnabled`, `setTrust`. */
export const editing = () => import('./edit/index.js')
/** Servers of other clients: `findClientServers`, `planImport`. */
export const importing = () => import('./import/index.js')
/** What plugins and executors declare: `readPluginManifest`, `readPluginServers`, `readExecutorConfig`. */
export const plugins = () => import('./plugins/index.js')
