import {
  ConfigError,
  InvalidArgumentsError,
  LimitExceededError,
  ProtocolViolationError,
  RpcError,
} from '../../errors.js'
import type { Environment, EnvironmentFiles } from '../environment.js'
import { PluginFolder, type PluginProblem, type PluginReading } from './plugin-folder.js'
import { readAgentPlugin } from './read-agent-plugin.js'
import { type PrefetchedFiles, readClientPlugin } from './read-client-plugin.js'
import type { CapabilityRoot, DiscoveredPlugin, DiscoveryProblem } from './types.js'

/** One root, read: its plugin where it is one, and what is wrong with it. Frozen. */
export interface RootDiscovery {
  readonly plugin?: DiscoveredPlugin
  readonly problems: readonly DiscoveryProblem[]
}

export interface DiscoverRootOptions {
  readonly signal?: AbortSignal
  /** What the executor already told of its files. */
  readonly prefetched?: PrefetchedFiles
  /** Read these, where not everybody may read everything. */
  readonly files?: EnvironmentFiles
}

/**
 * Reads a plugin through its environment alone, never the host's own files (reference: catalog, 7 and 9.2). A manifest of a
 * client comes first, then one of Agent Plugins. Raises only what concerns the whole environment: `EnvironmentError`,
 * `TransportClosedError`, `OperationTimeoutError`, `ClosedError`, `CancelledError`.
 */
export async function discoverRoot(
  environment: Environment,
  root: CapabilityRoot,
  { signal, prefetched, files = environment.files }: DiscoverRootOptions = {},
): Promise<RootDiscovery> {
  const folder = new PluginFolder(environment, root, { files, signal })
  try {
    if (prefetched === undefined) await folder.refuseOtherThanFolder()
    const reading = (await readClientPlugin(folder, prefetched)) ?? (await readAgentPlugin(folder))
    if (reading !== undefined) return found(root, reading)
    return failed(root, {
      code: 'not_a_plugin',
      path: root.path,
      message: `${root.path} holds no manifest of a plugin`,
    })
  } catch (error) {
    return failed(root, problemOf(root, error))
  }
}

/** A root of which the executor itself said what is wrong. */
export function unreadableRoot(root: CapabilityRoot, message: string): RootDiscovery {
  return failed(root, { code: 'root_unreadable', path: root.path, message })
}

function found(root: CapabilityRoot, { displayName = root.id, agentPlugin, servers, problems }: PluginReading) {
  const { id, environment, path } = root
  const about = { environment, plugin: id }
  return Object.freeze({
    plugin: Object.freeze({ id, displayName, agentPlugin, environment, path, servers }),
    problems: Object.freeze(problems.map((problem) => Object.freeze({ ...about, ...problem }))),
  })
}

function failed({ id, environment }: CapabilityRoot, problem: PluginProblem): RootDiscovery {
  return Object.freeze({ problems: Object.freeze([Object.freeze({ environment, plugin: id, ...problem })]) })
}

/** What concerns this root alone. @throws what concerns all of the environment */
function problemOf(root: CapabilityRoot, error: unknown): PluginProblem {
  if (error instanceof ConfigError) {
    const path = error.place ?? root.path
    return { code: 'broken_manifest', path, message: `${path}: ${error.message}` }
  }
  if (error instanceof ProtocolViolationError)
    return { code: 'discovery_failed', path: root.path, message: error.message }
  if (error instanceof RpcError || error instanceof LimitExceededError || error instanceof InvalidArgumentsError)
    return { code: 'root_unreadable', path: error.place ?? root.path, message: error.message }
  throw error
}
