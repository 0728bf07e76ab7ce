export {
  AGENT_PLUGIN_MANIFEST,
  AGENT_PLUGIN_SERVERS,
  type AgentPluginManifest,
  isAgentPluginDocument,
  readAgentManifest,
} from './agent-manifest.js'
export { readAgentPluginServers } from './agent-servers.js'
export type { AgentFolders } from './agent-stdio.js'
export type { ContainedPath } from './contained.js'
export { parsePluginDocument } from './document.js'
export {
  type ExecutorConfig,
  type ExecutorConfigLayer,
  type ExecutorConfigProblem,
  readExecutorConfig,
} from './executor-config.js'
export { PLUGIN_MANIFESTS, type PluginManifest, type PluginServersSource, readPluginManifest } from './manifest.js'
export { inside, pathRules, pluginDataFolder, within } from './paths.js'
export { type PluginPlace, type PluginServers, readPluginServers } from './servers.js'
export { dependencyKey, type NeededServers, neededServers, type SkillDependency } from './skill-dependencies.js'
