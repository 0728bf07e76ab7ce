import type { PluginServers, ServerConfig } from '../../config/index.js'
import { ConfigError, InvalidArgumentsError } from '../../errors.js'
import { fileUriOf } from '../../protocol/index.js'
import type { Environment, EnvironmentFiles } from '../environment.js'
import { Containment } from './containment.js'
import { type FileText, readPluginFile } from './plugin-files.js'
import type { CapabilityRoot, DiscoveryProblem } from './types.js'

/** Of one plugin: every one of them may become a process. */
const MOST_SERVERS = 256

/** What one server, or the plugin beside its servers, has wrong. */
export type PluginProblem = Omit<DiscoveryProblem, 'environment' | 'plugin'>

/** A plugin's servers after every check. */
export interface PluginReading {
  readonly displayName: string | undefined
  readonly agentPlugin: boolean
  readonly servers: ReadonlyMap<string, ServerConfig>
  readonly problems: readonly PluginProblem[]
}

/** A folder in an environment that may be a plugin: reads files of it, and only of it. */
export class PluginFolder {
  readonly environment: Environment
  readonly root: CapabilityRoot
  readonly files: EnvironmentFiles
  readonly signal: AbortSignal | undefined
  readonly #containment: Containment

  constructor(
    environment: Environment,
    root: CapabilityRoot,
    { files, signal }: { readonly files: EnvironmentFiles; readonly signal: AbortSignal | undefined },
  ) {
    this.environment = environment
    this.root = root
    this.files = files
    this.signal = signal
    this.#containment = new Containment(files, signal)
  }

  /** @throws InvalidArgumentsError, RpcError */
  async refuseOtherThanFolder(): Promise<void> {
    const { path } = this.root
    if (fileUriOf(path, await this.environment.pathStyle()) === undefined)
      throw new InvalidArgumentsError(`'${path}' is no absolute path there`, { place: path })
    const { isDirectory } = await this.files.metadata(path, this.signal)
    if (!isDirectory) throw new InvalidArgumentsError(`${path} is no folder`, { place: path })
  }

  /** A file of this folder; undefined when there is none. @throws ConfigError `outside_root`, `too_large`, `not_utf8` */
  async read(path: string): Promise<FileText | undefined> {
    const file = await readPluginFile(this.files, path, this.signal)
    if (file !== undefined) await this.refuseOutside(path)
    return file
  }

  /** @throws ConfigError `outside_root` */
  async refuseOutside(path: string): Promise<void> {
    if ((await this.#containment.destination(this.root.path, path)) !== 'inside')
      throw new ConfigError('outside_root', 'leads out of the plugin', { place: path })
  }

  /** The servers whose paths stay inside also when links are followed, and a problem for each of the others. */
  async contained(
    { servers, errors, warnings, paths }: PluginServers,
    file: string,
  ): Promise<Omit<PluginReading, 'displayName' | 'agentPlugin'>> {
    if (servers.size + errors.size > MOST_SERVERS)
      throw new ConfigError('too_many_servers', `declares more than ${MOST_SERVERS} servers`, { place: file })
    const kept = new Map(servers)
    const problems: PluginProblem[] = [...errors].map(([server, { message }]) => ({
      code: 'invalid_plugin_server',
      server,
      path: file,
      message,
    }))
    for (const { server, member, path, within, may } of paths) {
      const destination = await this.#containment.destination(within, path)
      if (destination === 'inside' || (destination === 'nowhere' && may === 'be new' && path === within)) continue
      kept.delete(server)
      const message = `${member} \`${path}\` ${destination === 'outside' ? `leads out of ${within}` : 'is not there'}`
      problems.push({ code: 'invalid_plugin_server', server, path: file, message })
    }
    for (const { server, message } of warnings) problems.push({ code: 'plugin_warning', server, path: file, message })
    return { servers: kept, problems }
  }
}
