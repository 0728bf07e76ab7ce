import { join } from 'node:path'
import {
  CredentialKeeper,
  exchangedAuth,
  HomeCredentialStore,
  ServerLogins,
  type StoreMode,
  SubjectTokens,
  TokenExchanges,
  trustedCertificates,
} from '../auth/index.js'
import { type AuditStore, type DurableApprovals, Launchers, LauncherTrials } from '../authority/index.js'
import { reeveHome, userHome } from '../config/index.js'
import { ConnectionPool, type HostVariables } from '../connections/index.js'
import { createHttpClient, EnvironmentTable, LocalEnvironment, reapOrphans } from '../environments/index.js'
import { type ReeveError, UnsupportedError } from '../errors.js'
import { type AnalyticsQueue, FileAppsCache, openStore, type Store } from '../store/index.js'
import type { ThreadMemory } from '../threads/index.js'
import { transportOpener } from '../transports/index.js'
import { FirstPartyHost, type FirstPartyOptions } from './first-party.js'

export interface ReeveHostOptions {
  /** Folder for state. Default: `$REEVE_HOME`, else `~/.reeve`. */
  readonly home?: string
  /** The host's variables. Servers get only what the configuration names and a short list. Default: `process.env`. */
  readonly env?: HostVariables
  /** Milliseconds that a server is kept up once no thread uses it any more, for the next one that shares. Default 0. */
  readonly idleMs?: number
  /**
   * Absolute path of a `reeve` command line, which servers of this machine may be told of as a launcher for sandboxed commands
   * once it was tried out, and which starts the servers that have a sandbox. Default: none is, and those aren't started.
   */
  readonly commandLine?: string
  /** The first-party backend of a deployment of its own. Default: the production one. */
  readonly firstParty?: FirstPartyOptions
}

/**
 * What runtimes of one process can have together: the state of one home, and processes and connections for one set of
 * variables. Threads that share servers do so across these runtimes: each with its own configuration and working
 * directory, and one server wherever these make no difference to it.
 */
export class ReeveHost implements AsyncDisposable {
  readonly home: string
  readonly env: HostVariables
  /** For the runtimes: the logins to servers of this home. */
  readonly logins: ServerLogins
  /** For whoever lets principals in: the tokens that they came with, to be exchanged for those of servers. */
  readonly subjectTokens = new SubjectTokens()
  /** For the runtimes: the process's parts of first-party auth. */
  readonly firstParty: FirstPartyHost
  /** For the runtimes: what is kept of hosted apps. */
  readonly apps: FileAppsCache
  readonly #credentials: HomeCredentialStore
  readonly #keeper: CredentialKeeper
  readonly #store: Store
  readonly #local: LocalEnvironment
  readonly #environments: EnvironmentTable
  readonly #pool: ConnectionPool
  readonly #trials: LauncherTrials
  readonly #commandLine: string | undefined
  readonly #warnings: (ReeveError | Error)[]
  #closed: Promise<void> | undefined

  /** @throws ConfigError `ca_certificate` when the file of `REEVE_CA_CERTIFICATE` is of no use. */
  constructor(options: ReeveHostOptions = {}) {
    this.env = options.env ?? process.env
    this.home = options.home ?? reeveHome(this.env)
    const ca = trustedCertificates(this.env)
    this.#credentials = new HomeCredentialStore(this.home, { onwarning: (warning) => this.#warnings.push(warning) })
    this.#keeper = new CredentialKeeper({ store: this.#credentials, home: this.home })
    this.logins = new ServerLogins(this.#keeper)
    this.#store = openStore(join(this.home, 'state.sqlite'))
    this.#warnings = [...this.#store.warnings]
    this.apps = new FileAppsCache({ home: this.home, onwarning: (warning) => this.#warnings.push(warning) })
    const { firstParty = {} } = options
    const http = createHttpClient({
      env: this.env,
      ...(ca.length > 0 && { ca }),
      ...(firstParty.route && { route: firstParty.route }),
    })
    this.firstParty = new FirstPartyHost(firstParty, {
      home: this.home,
      env: this.env,
      client: http,
      onProblem: (problem) => this.#warnings.push(problem),
    })
    this.#local = new LocalEnvironment({
      home: this.home,
      http,
      onwarning: (warning) => this.#warnings.push(warning),
    })
    this.#trials = new LauncherTrials({ host: this.#local, variables: this.env })
    this.#commandLine = options.commandLine
    this.#environments = new EnvironmentTable({ host: this.#local, env: this.env, cwd: this.home })
    const environments = new Map([['local', this.#local]])
    const { logins } = this
    const exchanges = new TokenExchanges({ subjects: this.subjectTokens, http, env: this.env })
    this.#pool = new ConnectionPool({
      logins,
      cache: this.#store.inventories,
      ...(options.idleMs !== undefined && { idleMs: options.idleMs }),
      eras: this.#store.eras,
      open: transportOpener({
        environments,
        parentEnv: this.env,
        defaultCwd: this.home,
        ...(options.commandLine !== undefined && { launcher: { commandLine: options.commandLine, home: this.home } }),
        credentials: (server, environment, connection, principal) =>
          exchangedAuth(exchanges, server, principal) ?? logins.credentials(server, environment, connection, principal),
      }),
    })
  }

  /** What is wrong with the state folder, already dealt with. */
  get warnings(): readonly (ReeveError | Error)[] {
    return this.#warnings
  }

  /** For the runtimes: where logins are kept, chosen by the first of them for all, as long as this host lives. */
  async keepLogins(mode: StoreMode = 'file'): Promise<void> {
    if (await this.#credentials.choose(mode)) return
    const text = `logins are kept as \`${this.#credentials.mode}\` in this process already, and not as \`${mode}\``
    this.warn(new UnsupportedError(text, { place: 'mcp_oauth_credentials_store' }))
  }

  /** For the runtimes. */
  get pool(): ConnectionPool {
    return this.#pool
  }

  /** For the runtimes: equal environments of theirs are one. */
  get environments(): EnvironmentTable {
    return this.#environments
  }

  /** For the runtimes: a file that was tried out is known to all of them. */
  launchers(setting: string): Promise<Launchers> {
    return Launchers.open({
      setting,
      home: userHome(this.env),
      commandLine: this.#commandLine,
      trials: this.#trials,
    })
  }

  /** For the runtimes. */
  get threads(): ThreadMemory {
    return this.#store.threads
  }

  /** For the runtimes: what calls were allowed for good. */
  get approvals(): DurableApprovals {
    return this.#store.approvals
  }

  /** For the runtimes: where calls are recorded. */
  get audit(): AuditStore {
    return this.#store.audit
  }

  /** For the runtimes: what is to be told of calls. */
  get analytics(): AnalyticsQueue {
    return this.#store.analytics
  }

  /** For the runtimes: a fault that stops nothing. */
  warn(warning: ReeveError): void {
    this.#warnings.push(warning)
  }

  /** Ends what earlier processes of this home left behind when they were killed. */
  async reapOrphans(): Promise<void> {
    const { problems } = await reapOrphans(this.home)
    this.#warnings.push(...problems)
  }

  /** Kills every child at once: for a process that is about to end. */
  killNow(): void {
    this.#local.killNow()
  }

  /** Ends every connection and process, in parallel and bounded. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #shutDown(): Promise<void> {
    // Servers before the executors that they run on, and these before the host, which runs the commands to reach them.
    await this.#pool.close()
    await this.apps.settled()
    await this.firstParty.close()
    await this.#keeper.settled()
    await this.#environments.close()
    await this.#local.close()
    this.#store.close()
  }
}
