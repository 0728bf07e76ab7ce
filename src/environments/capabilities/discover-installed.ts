import { ProtocolViolationError, RpcError } from '../../errors.js'
import { EXEC_METHODS } from '../../protocol/index.js'
import type { Environment } from '../environment.js'
import { type InstalledPlugin, installedOf } from './answers.js'
import { discoverRoot, type RootDiscovery } from './discover-root.js'
import { inParallel } from './in-parallel.js'
import type { Sight } from './sight.js'
import type { DiscoveryProblem } from './types.js'
import { workingFolder } from './working-folder.js'

export interface InstalledDiscovery {
  /** By id. */
  readonly plugins: readonly RootDiscovery[]
  readonly problems: readonly DiscoveryProblem[]
}

export interface DiscoverInstalledOptions {
  /** Whether the host's configuration enables a plugin; the executor's own does not count. */
  readonly isEnabled: (id: string) => boolean
  readonly sight?: Sight
  readonly signal?: AbortSignal
}

const NOTHING: InstalledDiscovery = Object.freeze({ plugins: [], problems: [] })

/**
 * The plugins that are installed on an executor and that the host enables (reference: catalog, 9.1). Nothing on the host,
 * whose own plugins are its configuration's, and nothing where the executor doesn't have `capabilities/discoverV2`.
 */
export async function discoverInstalled(
  environment: Environment,
  cwd: string | undefined,
  { isEnabled, sight = { is: 'open' }, signal }: DiscoverInstalledOptions,
): Promise<InstalledDiscovery> {
  if (environment.ask === undefined) return NOTHING
  const [{ capabilities }, style] = await Promise.all([environment.info(), environment.pathStyle()])
  if (capabilities?.capabilityDiscoveryV2 !== true) return NOTHING
  if (sight.is === 'closed')
    return { plugins: [], problems: [problem('sandbox_unavailable', environment, sight.reason)] }
  try {
    const sandbox = sight.is === 'sandboxed' ? sight.sandbox : null
    const params = { cwd: await workingFolder(environment, cwd), sandbox }
    const answer = await environment.ask(EXEC_METHODS.discoverV2, params, { ...(signal && { signal }) })
    const { plugins, warnings } = installedOf(answer, style)
    const enabled = plugins.filter(({ id }) => isEnabled(id))
    return {
      plugins: await inParallel(enabled, (plugin) => readInstalled(environment, plugin, sight, signal)),
      problems: warnings.map((message) => problem('plugin_warning', environment, message)),
    }
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof ProtocolViolationError)) throw error
    return { plugins: [], problems: [problem('discovery_failed', environment, error.message)] }
  }
}

async function readInstalled(
  environment: Environment,
  { id, root, displayName, files }: InstalledPlugin,
  sight: Sight,
  signal: AbortSignal | undefined,
): Promise<RootDiscovery> {
  const place = { id, environment: environment.id, path: root }
  const found = await discoverRoot(environment, place, {
    prefetched: files,
    ...(sight.is === 'sandboxed' && { files: sight.files }),
    ...(signal && { signal }),
  })
  if (displayName === undefined || found.plugin === undefined) return found
  return Object.freeze({ ...found, plugin: Object.freeze({ ...found.plugin, displayName }) })
}

function problem(code: DiscoveryProblem['code'], { id }: Environment, message: string): DiscoveryProblem {
  return Object.freeze({ code, environment: id, message })
}
