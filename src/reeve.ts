import { join } from 'node:path'
import { configuredCatalog, type EffectiveServer, effectiveServers } from './catalog/index.js'
import { type ConfigProblem, type LoadedConfig, loadConfig, reeveHome } from './config/index.js'
import { ConnectionPool, type HostVariables } from './connections/index.js'
import { createHttpClient, LocalEnvironment, reapOrphans } from './environments/index.js'
import { ClosedError, type ReeveError } from './errors.js'
import { implementation } from './protocol/index.js'
import { openStore, type Store } from './store/index.js'
import { RuntimeThread, type Thread, type ThreadOptions } from './threads/index.js'
import { transportOpener } from './transports/index.js'

export type {
  CacheHint,
  ClientProfile,
  ConnectionEvent,
  FromServer,
  Inventory,
  ReadyClient,
  ServerRequestHandler,
  ServerStatus,
} from './connections/index.js'
export * from './errors.js'
export { displayKey, type EnvironmentId, type ServerKey, type ServerName, serverKey } from './identity/index.js'
export type * from './threads/index.js'
export type { ConfigProblem, EffectiveServer, LoadedConfig }

export interface ReeveOptions {
  /** Folder for state. Default: `$REEVE_HOME`, else `~/.reeve`. */
  readonly home?: string
  /** Read instead of the user's and the project's configuration; later files win. */
  readonly configFiles?: readonly string[]
  /** Where a project's configuration is looked for, and where local servers without `cwd` run. Default: `process.cwd()`. */
  readonly cwd?: string
  /** The host's variables. Servers get only what the configuration names and a short list. Default: `process.env`. */
  readonly env?: HostVariables
  /** Over those of the configuration. */
  readonly features?: Readonly<Record<string, boolean>>
  /** Milliseconds that a server is kept up once no thread uses it any more, for the next one that shares. Default 0. */
  readonly idleMs?: number
}

/**
 * The runtime: owns configuration, state, the host and every connection, and hands out threads.
 *
 * @example
 * ```ts
 * await using reeve = await Reeve.open()
 * await using thread = await reeve.startThread({ onEvent: console.error })
 * const step = await thread.step()
 * const [tool] = step.tools
 * if (tool) console.log(await step.call({ ...tool, arguments: {} }))
 * ```
 */
export class Reeve implements AsyncDisposable {
  readonly home: string
  readonly #parts: RuntimeParts
  readonly #threads = new Set<RuntimeThread>()
  #config: Configured
  #closed: Promise<void> | undefined

  /** Loads configuration and opens the state. Starts no server; raises nothing for what stands in a file (`problems`). */
  static async open(options: ReeveOptions = {}): Promise<Reeve> {
    const parts = openParts(options)
    try {
      const [config] = await Promise.all([configure(parts), parts.reapOrphans()])
      return new Reeve(parts, config)
    } catch (error) {
      await parts.close()
      throw error
    }
  }

  private constructor(parts: RuntimeParts, config: Configured) {
    this.home = parts.home
    this.#parts = parts
    this.#config = config
  }

  /** The configuration as last loaded. */
  get config(): LoadedConfig {
    return this.#config.loaded
  }

  /** What is wrong with the configuration; everything else in it counts. */
  get problems(): readonly ConfigProblem[] {
    return this.#config.loaded.problems
  }

  /** What is wrong with the state folder, already dealt with. */
  get warnings(): readonly (ReeveError | Error)[] {
    return this.#parts.warnings
  }

  /** The servers that a new thread starts, disabled ones included. */
  get servers(): readonly EffectiveServer[] {
    return this.#config.servers
  }

  /**
   * Starts a thread and its servers, all at once, without waiting for any but the required ones.
   *
   * @throws RequiredServersFailedError a `required` server did not come up; the thread is closed again
   * @throws UnknownServerError `only` names a server that is not configured
   */
  async startThread(options: ThreadOptions = {}, signal?: AbortSignal): Promise<Thread> {
    if (this.#closed !== undefined) throw new ClosedError('Reeve')
    const thread = new RuntimeThread(this.#threadHost(), options)
    this.#threads.add(thread)
    try {
      thread.publish(this.#config.servers)
      if (options.enforceRequired !== false) await thread.validateRequired(signal)
      return thread
    } catch (error) {
      await thread.close()
      throw error
    }
  }

  /** Loads the configuration again and publishes it to every thread; servers that did not change keep running. */
  async reload(): Promise<void> {
    if (this.#closed !== undefined) throw new ClosedError('Reeve')
    this.#config = await configure(this.#parts)
    for (const thread of this.#threads) thread.publish(this.#config.servers)
  }

  /** Ends every thread and server, in parallel and bounded. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  /** Kills every child at once: for a process that is about to end. */
  killNow(): void {
    this.#parts.local.killNow()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #shutDown(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.close()))
    await this.#parts.close()
  }

  #threadHost() {
    const { pool, env, cwd } = this.#parts
    return {
      pool,
      env,
      cwd,
      clientInfo: implementation(),
      multiEnvironment: this.#config.multiEnvironment,
      onClosed: (thread: RuntimeThread) => {
        this.#threads.delete(thread)
      },
    }
  }
}

interface Configured {
  readonly loaded: LoadedConfig
  readonly servers: readonly EffectiveServer[]
  readonly multiEnvironment: boolean
}

async function configure({ home, cwd, env, options }: RuntimeParts): Promise<Configured> {
  const loaded = await loadConfig({ home, cwd, env, ...(options.configFiles && { files: options.configFiles }) })
  const multiEnvironment =
    options.features?.multi_environment_mcp ?? loaded.features.get('multi_environment_mcp') ?? false
  return { loaded, multiEnvironment, servers: effectiveServers(configuredCatalog(loaded, { multiEnvironment })) }
}

interface RuntimeParts {
  readonly options: ReeveOptions
  readonly home: string
  readonly cwd: string
  readonly env: HostVariables
  readonly store: Store
  readonly local: LocalEnvironment
  readonly pool: ConnectionPool
  readonly warnings: (ReeveError | Error)[]
  reapOrphans(): Promise<void>
  close(): Promise<void>
}

function openParts(options: ReeveOptions): RuntimeParts {
  const env = options.env ?? process.env
  const home = options.home ?? reeveHome(env)
  const cwd = options.cwd ?? process.cwd()
  const store = openStore(join(home, 'state.sqlite'))
  const warnings: (ReeveError | Error)[] = [...store.warnings]
  const local = new LocalEnvironment({
    home,
    http: createHttpClient({ env }),
    onwarning: (warning) => warnings.push(warning),
  })
  const pool = new ConnectionPool({
    cache: store.inventories,
    ...(options.idleMs !== undefined && { idleMs: options.idleMs }),
    eras: store.eras,
    open: transportOpener({ environments: new Map([['local', local]]), parentEnv: env, defaultCwd: cwd }),
  })
  return {
    options,
    home,
    cwd,
    env,
    store,
    local,
    pool,
    warnings,
    reapOrphans: async () => {
      const { problems } = await reapOrphans(home)
      warnings.push(...problems)
    },
    close: async () => {
      await pool.close()
      await local.close()
      store.close()
    },
  }
}
