import { expect } from 'vitest'
import { approvalModeOf, type Catalog, type Registration, threadCatalog } from '../../src/catalog/index.js'
import { parseCodexConfig, plugins, type ServerConfig } from '../../src/config/index.js'
import { isToolEnabled } from '../../src/connections/index.js'
import type { DiscoveredPlugin, EnvironmentCapabilities } from '../../src/environments/index.js'
import { ToolDisabledError } from '../../src/errors.js'
import { codexNaming, serverKey } from '../../src/identity/index.js'
import { stdioConfig } from '../fixtures/server-config.js'
import type { Of } from './config-servers-cases.js'

const { readExecutorConfig } = await plugins()

export function precedence(input: Of<'precedence'>, mode: { readonly compatibility: boolean }): unknown {
  if (input.sources !== undefined) return contest(input, input.sources, mode)
  const config = serverOf(
    [
      '[mcp_servers.x]',
      'command = "echo"',
      ...(input.startup_timeout_sec === undefined ? [] : [`startup_timeout_sec = ${input.startup_timeout_sec}`]),
      ...(input.startup_timeout_ms === undefined ? [] : [`startup_timeout_ms = ${input.startup_timeout_ms}`]),
      ...(input.default_tools_approval_mode === undefined
        ? []
        : [`default_tools_approval_mode = "${input.default_tools_approval_mode}"`]),
      ...Object.entries(input.tools ?? {}).map(
        ([tool, { approval_mode }]) => `tools.${tool}.approval_mode = "${approval_mode}"`,
      ),
    ].join('\n'),
  )
  return {
    startupTimeoutSec: (config.startupTimeoutMs ?? 0) / 1000,
    ...(input.tool !== undefined && { mode: approvalModeOf(config, input.tool) }),
  }
}

export function serverOf(toml: string): ServerConfig {
  const [server] = parseCodexConfig(toml).servers
  if (server === undefined) throw new Error('the configuration has no server')
  return server.config
}

/** Lets every source declare the server and looks who stands in the thread's catalog. */
function contest(
  input: Of<'precedence'>,
  sources: readonly string[],
  mode: { readonly compatibility: boolean },
): unknown {
  const { serverName: name = '', environmentId = 'enva' } = input
  const shared = { name, config: stdioConfig({}, { enabled: input.sharedState !== 'disabled' }) }
  const plugins = sources.filter(isRoot).map((source) => pluginAt(idOf(source), environmentId, [name]))
  const executor = sources.includes('executorConfig')
    ? readExecutorConfig([layerOf(webServer(name))], environmentId)
    : undefined
  const catalog = threadCatalog(
    {
      servers: sources.includes('sharedConfig') ? [shared] : [],
      environments: [offered(environmentId, plugins, executor?.servers)],
      roots: plugins.map(rootOf),
    },
    { multiEnvironment: true, ...mode },
  )
  const winners = catalog.servers.map((registration) => ({
    winner: sourceNameOf(registration, sources),
    pluginId: pluginOf(registration),
    environmentId: registration.key.environment,
    namespace: codexNaming({ multiEnvironment: true }).assign([{ key: registration.key, tool: 't' }])[0]?.namespace,
    warning: catalog.problems.some(({ code }) => code === 'plugin_conflict'),
  }))
  return winners.length === 1 ? winners[0] : { registered: winners.map(({ winner }) => winner) }
}

const isRoot = (source: string) => source.startsWith('selectedRoot')
const idOf = (source: string) => source.replace('selectedRoot:', '')
const layerOf = (toml: string) => ({ source: 'user (config.toml)', toml })
const webServer = (name: string) => `[mcp_servers.${name}]\nurl = "http://127.0.0.1:4500/mcp"\n`
const rootOf = ({ id, environment, path }: DiscoveredPlugin) => ({ id, environment, path })

function sourceNameOf({ source, key }: Registration, sources: readonly string[]): string | undefined {
  if ('plugin' in source) return sources.find((one) => isRoot(one) && idOf(one) === source.plugin.id)
  return key.environment === null ? 'sharedConfig' : 'executorConfig'
}

function pluginAt(id: string, environment: string, names: readonly string[]): DiscoveredPlugin {
  const servers = new Map(names.map((name) => [name, stdioConfig({}, { environmentId: environment })]))
  return { id, displayName: id, agentPlugin: false, environment, path: `/plugins/${id}`, servers }
}

function offered(
  environment: string,
  plugins: readonly DiscoveredPlugin[],
  executorServers: ReadonlyMap<string, ServerConfig> = new Map(),
): EnvironmentCapabilities {
  return { environment, plugins, executorServers, problems: [] }
}

function pluginOf({ source }: Registration): string | null {
  return 'plugin' in source ? source.plugin.id : null
}

export function filter(input: Of<'filter'>): unknown {
  const config = stdioConfig({}, { enabledTools: input.enabled_tools, disabledTools: input.disabled_tools })
  const refused = input.disabled_tools[0] ?? ''
  return {
    offered: input.tools.filter((tool) => isToolEnabled(config, tool)),
    directCallError: { tool: refused, message: new ToolDisabledError(serverKey('p'), refused).message },
  }
}

export function executorConfig({ toml, environmentId = 'enva', pluginServers }: Of<'executorConfig'>): unknown {
  const { servers, skipped, problems } = readExecutorConfig([layerOf(toml)], environmentId)
  const plugins = pluginServers === undefined ? [] : [pluginAt('rootA', environmentId, pluginServers)]
  const catalog = threadCatalog(
    { servers: [], environments: [offered(environmentId, plugins, servers)], roots: plugins.map(rootOf) },
    { multiEnvironment: true },
  )
  if (pluginServers === undefined) {
    expect(skipped).toEqual(['fresh'])
    return { used: enabledNames(catalog), pluginId: pluginOf(catalog.servers[0] ?? fail('nothing is used')) }
  }
  return { connected: enabledNames(catalog), warning: problems.length > 0 }
}

function enabledNames(catalog: Catalog): readonly string[] {
  return catalog.servers.filter(({ config }) => config.enabled).map(({ key }) => key.name)
}

export function fail(message: string): never {
  throw new Error(message)
}

export function pluginPolicy({ toml, roots, installations, tools = [] }: Of<'pluginPolicy'>): unknown {
  const { plugins: overlays } = parseCodexConfig(toml)
  const places =
    roots ?? (installations ?? []).map((environmentId) => ({ rootId: 'notesplug@demo-market', environmentId }))
  const plugins = places.map(({ rootId, environmentId }) => pluginAt(rootId, environmentId, ['notes']))
  const catalog = threadCatalog(
    {
      servers: [],
      environments: plugins.map((plugin) => offered(plugin.environment, [plugin])),
      roots: roots === undefined ? [] : plugins.map(rootOf),
      policies: { overlays },
    },
    { multiEnvironment: true },
  )
  const perEnvironment = catalog.servers.map(({ key, config }) => {
    const offeredTools = tools.filter((tool) => isToolEnabled(config, tool))
    return [key.environment, !config.enabled ? 'disabled' : wantsTools(toml) ? offeredTools : 'connected']
  })
  return { perEnvironment: Object.fromEntries(perEnvironment) }
}

/** Cases about the tool filter list tools; the others only say whether the server is connected. */
function wantsTools(toml: string): boolean {
  return toml.includes('enabled_tools')
}
