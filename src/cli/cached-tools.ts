import { join } from 'node:path'
import { configuredCatalog, type EffectiveServer, effectiveServers } from '../catalog/index.js'
import { type LoadedConfig, loadConfig } from '../config/index.js'
import { cacheIdentity, type Inventory, type InventoryCache, isToolEnabled } from '../connections/index.js'
import { UnknownServerError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { implementation } from '../protocol/index.js'
import { openStore } from '../store/index.js'
import type { Addressable, ServerSelector } from '../threads/index.js'
import type { Cli } from './cli.js'
import { isFeatureOn, mayHaveServers } from './environment-servers.js'
import { selectKey } from './selection.js'
import { tellProblems } from './showing/problems.js'
import { byServerAndName, type ListedTool, showTools } from './showing/tool-list.js'

export interface CachedTools {
  readonly tools: readonly ListedTool[]
  /** Enabled servers that the cache does not know as they are configured now. */
  readonly missing: readonly ServerKey[]
  /** Whether selected environments may have servers of their own that are asked for: what these are, only they can say. */
  readonly mayBeMore: boolean
  readonly config: LoadedConfig
}

/**
 * The tools of every enabled server (or of the one selected) as they were last seen. Reads the configuration and the
 * state, and starts nothing.
 *
 * @throws UnknownServerError
 */
export async function cachedTools(cli: Cli, selector: ServerSelector | undefined): Promise<CachedTools> {
  const config = await loadConfig({ home: cli.home, cwd: cli.cwd, env: cli.env, files: cli.configFiles })
  const multiEnvironment = isFeatureOn(config, 'multi_environment_mcp')
  const configured = effectiveServers(configuredCatalog(config, { multiEnvironment }))
  const reachesOut = mayHaveServers(config)
  const servers = selected(configured, selector, reachesOut)
  const tools: ListedTool[] = []
  const missing: ServerKey[] = []
  using store = openStore(join(cli.home, 'state.sqlite'))
  for (const server of servers) {
    const inventory = server.config.enabled ? inventoryOf(server, store.inventories, cli) : undefined
    if (inventory === undefined) missing.push(server.key)
    else tools.push(...listed(server, inventory))
  }
  const mayBeMore = reachesOut && (selector === undefined || servers.length === 0)
  return { tools: tools.sort(byServerAndName), missing, mayBeMore, config }
}

/**
 * A disabled server that is asked for by name stays in: starting it will say why it cannot be used. None where only an
 * environment can have the one that is asked for.
 */
function selected(
  servers: readonly EffectiveServer[],
  selector: ServerSelector | undefined,
  reachesOut: boolean,
): readonly EffectiveServer[] {
  if (selector === undefined) return servers.filter(({ config }) => config.enabled)
  try {
    const wanted = selectKey(servers.map(addressable), selector)
    return servers.filter(({ key }) => key === wanted)
  } catch (error) {
    if (reachesOut && error instanceof UnknownServerError) return []
    throw error
  }
}

const addressable = ({ key, config }: EffectiveServer): Addressable => ({ key, runsIn: config.environmentId })

function inventoryOf(server: EffectiveServer, cache: InventoryCache, cli: Cli): Inventory | undefined {
  // What threads of the command line declare: they answer no question of a server.
  const profile = { clientInfo: implementation(), capabilities: {} }
  const identity = cacheIdentity(server, { profile, env: cli.env, fallbackCwd: cli.cwd })
  return identity === undefined ? undefined : cache.get(identity)?.inventory
}

/** What a step would offer of it: filtered, and of two tools of one name the first. */
function listed({ key, config }: EffectiveServer, { tools }: Inventory): ListedTool[] {
  const seen = new Set<string>()
  return tools.flatMap((definition) => {
    const { name } = definition
    if (typeof name !== 'string' || seen.has(name) || !isToolEnabled(config, name)) return []
    seen.add(name)
    return [{ key, tool: name, definition, live: false }]
  })
}

/** Prints what the cache knows. Gives the exit code: not 0 when part of the configuration could not be used. */
export function showCached(cli: Cli, { tools, config }: CachedTools): number {
  tellProblems(cli, config.problems)
  showTools(cli, { tools, failures: [] })
  return config.problems.some(({ severity }) => severity === 'error') ? 1 : 0
}
