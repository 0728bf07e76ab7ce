import { join } from 'node:path'
import { configuredCatalog, type EffectiveServer, effectiveServers } from '../catalog/index.js'
import { type LoadedConfig, loadConfig } from '../config/index.js'
import { cacheIdentity, isToolEnabled } from '../connections/index.js'
import { readableNaming, type ServerKey } from '../identity/index.js'
import { implementation } from '../protocol/index.js'
import { openStore } from '../store/index.js'
import { type OfferingServer, offer, type ServerSelector, type StepTool } from '../threads/index.js'
import type { Cli } from './cli.js'
import { selectKey } from './selection.js'

export interface CachedTools {
  readonly tools: readonly StepTool[]
  /** Enabled servers that the cache does not know as they are configured now. */
  readonly missing: readonly ServerKey[]
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
  const multiEnvironment = config.features.get('multi_environment_mcp') ?? false
  const servers = selected(effectiveServers(configuredCatalog(config, { multiEnvironment })), selector)
  const { known, missing } = readInventories(cli, servers)
  const { tools } = offer(known, { naming: readableNaming, multiEnvironment, appTools: true })
  return { tools, missing, config }
}

function selected(
  servers: readonly EffectiveServer[],
  selector: ServerSelector | undefined,
): readonly EffectiveServer[] {
  if (selector === undefined) return servers.filter(({ config }) => config.enabled)
  const keys = servers.map(({ key }) => key)
  const wanted = selectKey(keys, selector)
  return servers.filter(({ key }) => key === wanted)
}

function readInventories(
  cli: Cli,
  servers: readonly EffectiveServer[],
): { known: OfferingServer[]; missing: ServerKey[] } {
  const known: OfferingServer[] = []
  const missing: ServerKey[] = []
  // What threads of the command line declare: they answer no question of a server.
  const context = {
    profile: { clientInfo: implementation(), capabilities: {} },
    env: cli.env,
    fallbackCwd: cli.cwd,
  }
  using store = openStore(join(cli.home, 'state.sqlite'))
  for (const server of servers) {
    const identity = server.config.enabled ? cacheIdentity(server, context) : undefined
    const inventory = identity === undefined ? undefined : store.inventories.get(identity)?.inventory
    if (inventory === undefined) missing.push(server.key)
    else known.push(offering(server, inventory.tools))
  }
  return { known, missing }
}

function offering({ key, config }: EffectiveServer, tools: OfferingServer['tools']): OfferingServer {
  return { key, live: false, tools: tools.filter(({ name }) => isToolEnabled(config, String(name))) }
}
