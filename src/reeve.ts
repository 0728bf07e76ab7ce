import type {
  AuthManager,
  LoggedIn,
  LoggedOut,
  LoginServer,
  PendingLogin,
  ServerLoginOptions,
  ServerLogins,
  SubjectTokens,
  UnattendedLoginOptions,
} from './auth/index.js'
import { AuditLog, type HookListing, Hooks, type LauncherFindings } from './authority/index.js'
import type { EffectiveServer } from './catalog/index.js'
import type { ConfigProblem, LoadedConfig } from './config/index.js'
import { CapabilityFinder, type Environment, EnvironmentRegistry } from './environments/index.js'
import {
  ClosedError,
  type ReeveError,
  ThreadInUseError,
  UnknownEnvironmentError,
  UnknownServerError,
  UnknownThreadError,
} from './errors.js'
import { serverKey } from './identity/index.js'
import { implementation } from './protocol/index.js'
import { analyticsSettings, type Configured, configure } from './reeve/configured.js'
import type { ReeveOptions } from './reeve/options.js'
import { partsFrom, type RuntimeParts } from './reeve/parts.js'
import { Analytics } from './telemetry/index.js'
import {
  RuntimeThread,
  type ServerSelector,
  type Thread,
  type ThreadHost,
  type ThreadOptions,
  type ThreadOrigin,
  type ThreadRecord,
} from './threads/index.js'

export type { ReeveOptions } from './reeve/options.js'
export * from './reeve/surface.js'

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
  /** Of `ReeveOptions.credentials`. No thread uses it unless it is given it: `startThread({ auth: reeve.auth })`. */
  readonly auth: AuthManager | undefined
  readonly #parts: RuntimeParts
  readonly #environments: EnvironmentRegistry
  readonly #audit: AuditLog
  readonly #analytics: Analytics
  readonly #threads = new Map<string, RuntimeThread>()
  #config: Configured
  #closed: Promise<void> | undefined

  /** Loads configuration and opens the state. Starts no server; raises nothing for what stands in a file (`problems`). */
  static async open(options: ReeveOptions = {}): Promise<Reeve> {
    const parts = partsFrom(options)
    try {
      const reaped = parts.ownsHost ? parts.host.reapOrphans() : undefined
      const [config] = await Promise.all([configure(parts), reaped])
      const { firstPartyStore: store } = config.loaded.oauth
      const auth = options.credentials && (await parts.host.firstParty.managerOf(options.credentials, store))
      await parts.host.keepLogins(config.loaded.oauth.credentialsStore)
      return new Reeve(parts, config, auth)
    } catch (error) {
      if (parts.ownsHost) await parts.host.close()
      throw error
    }
  }

  private constructor(parts: RuntimeParts, config: Configured, auth: AuthManager | undefined) {
    this.auth = auth
    this.home = parts.host.home
    this.#parts = parts
    this.#config = config
    this.#environments = new EnvironmentRegistry(parts.host.environments, config.loaded.environments)
    this.#audit = new AuditLog(parts.host.audit, {
      settings: config.loaded.audit,
      onwarning: (warning) => parts.host.warn(warning),
    })
    this.#analytics = new Analytics({
      settings: analyticsSettings(parts, config),
      queue: parts.host.analytics,
      places: parts.host.firstParty.runtime.places,
      onwarning: (warning) => parts.host.warn(warning),
    })
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
    return this.#parts.host.warnings
  }

  /**
   * What there is for servers of this machine to run sandboxed commands through, and why not. Tries out what has not been:
   * a second where there is a launcher, and bounded everywhere.
   */
  launchers(): Promise<LauncherFindings> {
    return this.#config.launchers.findings()
  }

  /** The hooks of the configuration, with what keeps each from running. */
  get hooks(): readonly HookListing[] {
    return new Hooks({ configured: this.#config.loaded.hooks }).list
  }

  /** The servers that a new thread starts, disabled ones included. */
  get servers(): readonly EffectiveServer[] {
    return this.#config.servers
  }

  /** The host under `local`, those of the configuration, and those added here. Nothing connects before it is used. */
  get environments(): EnvironmentRegistry {
    return this.#environments
  }

  /**
   * Starts a thread and its thread-wide servers, all at once, without waiting for any but the required ones. What its
   * environments have is looked for meanwhile, and started by its first step or call.
   *
   * @throws RequiredServersFailedError a `required` server did not come up; the thread is closed again
   * @throws UnknownServerError `only` names a server that is not configured
   * @throws SelectionError the environments or capability roots can't be selected
   * @throws UnknownThreadError `from` names a thread that is not kept
   */
  async startThread(options: ThreadOptions = {}, signal?: AbortSignal): Promise<Thread> {
    const { from } = options
    return this.#start(options, from === undefined ? {} : { record: this.#record(from) }, signal)
  }

  /**
   * Takes a kept thread up again: its id, its environments in their order, its capability roots. What `options` name counts
   * instead. An environment that is not there any more is a problem of the thread, which starts without it.
   *
   * @throws UnknownThreadError | ThreadInUseError, and as `startThread`
   */
  async resumeThread(id: string, options: ThreadOptions = {}, signal?: AbortSignal): Promise<Thread> {
    if (this.#threads.has(id)) throw new ThreadInUseError(id)
    return this.#start(options, { id, record: this.#record(id) }, signal)
  }

  /** The tokens that principals came with, for servers whose configuration has them exchanged. */
  get subjectTokens(): SubjectTokens {
    return this.#parts.host.subjectTokens
  }

  /** The logins to servers: they are of the home, and every process that works there sees them at once. */
  get logins(): ServerLogins {
    return this.#parts.host.logins
  }

  /**
   * A server to log in to, also one that an environment contributes, which is looked into for that.
   *
   * @throws UnknownServerError | AmbiguousServerError | UnknownEnvironmentError | SelectionError | EnvironmentError
   */
  async find(selector: ServerSelector, signal?: AbortSignal): Promise<LoginServer> {
    const { server: name, environment: id = null } = selector
    const placed = this.servers.find(({ key, config }) => key.name === name && config.environmentId === id)
    if (placed !== undefined) return placed
    const environments = id === null ? {} : { environments: [{ id }] }
    const options = { only: [selector], enforceRequired: false, warm: false, ...environments }
    const thread = await this.#start(options, {}, signal)
    try {
      const key = thread.servers()[0]?.key
      const found = key && this.#threads.get(thread.id)?.registration(key)
      if (found === undefined) throw new UnknownServerError(serverKey(name, id))
      return found
    } finally {
      await thread.close()
    }
  }

  /**
   * Prepares a login to a server, through the environment that it is reached from.
   *
   * @throws UnknownEnvironmentError, and as `ServerLogins.begin`
   */
  async login(server: LoginServer, options: ServerLoginOptions): Promise<PendingLogin> {
    return this.logins.begin(server, this.#placeOf(server), options)
  }

  /**
   * Forgets the logins to a server of an environment, those of a principal of the gateway or else the local user's; an
   * environment that is gone only keeps the issuers from being told.
   */
  logout(server: string, environment: string, principal?: string): Promise<readonly LoggedOut[]> {
    const placed = this.#environments.get(environment)
    const whose = { server, environment, ...(principal !== undefined && { principal }) }
    return this.logins.logout(whose, placed?.environment.http)
  }

  /** Logs in to a server without a user; throws as `login`. */
  async loginUnattended(server: LoginServer, options: UnattendedLoginOptions): Promise<LoggedIn> {
    return this.logins.unattended(server, this.#placeOf(server), options)
  }

  /** Loads the configuration again and publishes it to every thread; what did not change keeps running. */
  async reload(): Promise<void> {
    if (this.#closed !== undefined) throw new ClosedError('Reeve')
    const config = await configure(this.#parts, this.#config)
    // It may have been closed meanwhile.
    if (this.#closed !== undefined) throw new ClosedError('Reeve')
    this.#config = config
    this.#environments.replace(config.loaded.environments)
    this.#audit.configure(config.loaded.audit)
    this.#analytics.configure(analyticsSettings(this.#parts, config))
    for (const thread of this.#threads.values()) thread.configure(config.threads)
  }

  /** Ends every thread, and every server that no other runtime of its host uses, in parallel and bounded. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  /** Kills every child at once, and writes what the audit holds: for a process that is about to end. */
  killNow(): void {
    this.#parts.host.killNow()
    this.#audit.flush()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #placeOf({ config: { environmentId } }: LoginServer): Environment {
    const placed = this.#environments.get(environmentId)
    if (placed === undefined) throw new UnknownEnvironmentError(environmentId, { known: this.#environments.ids })
    return placed.environment
  }

  async #shutDown(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.close()))
    await this.#environments.close()
    this.#audit.close()
    if (this.#parts.ownsHost) await this.#parts.host.close()
  }

  async #start(options: ThreadOptions, origin: ThreadOrigin, signal: AbortSignal | undefined): Promise<Thread> {
    if (this.#closed !== undefined) throw new ClosedError('Reeve')
    const thread = new RuntimeThread(this.#threadHost(), this.#config.threads, options, origin)
    this.#threads.set(thread.id, thread)
    try {
      await thread.start(signal)
      return thread
    } catch (error) {
      await thread.close()
      throw error
    }
  }

  #record(id: string): ThreadRecord {
    const record = this.#parts.host.threads.get(id)
    if (record === undefined) throw new UnknownThreadError(id)
    return record
  }

  #threadHost(): ThreadHost {
    const { host, cwd } = this.#parts
    return {
      pool: host.pool,
      env: host.env,
      cwd,
      clientInfo: implementation(),
      environments: this.#environments,
      capabilities: () => new CapabilityFinder(),
      memory: host.threads,
      approvals: host.approvals,
      audit: () => (this.#audit.isOn ? this.#audit : undefined),
      launchers: () => this.#config.launchers.paths(),
      firstParty: host.firstParty,
      analytics: (thread) => this.#analytics.of(thread),
      apps: host.apps,
      onClosed: (id) => {
        this.#threads.delete(id)
      },
    }
  }
}
