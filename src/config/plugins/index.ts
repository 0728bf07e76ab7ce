export { type ExecutorConfig, readExecutorConfig } from './executor-config.js'
export { PLUGIN_MANIFESTS, type PluginManifest, type PluginServersSource, readPluginManifest } from './manifest.js'
export { type PluginPlace, type PluginServers, readPluginServers } from './servers.js'
