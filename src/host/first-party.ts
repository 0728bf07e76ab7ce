import { setTimeout as wait } from 'node:timers/promises'
import {
  AgentTasks,
  type AssertionIssuer,
  type AuthHttp,
  AuthManager,
  type AuthRuntime,
  type AuthStorageMode,
  accessTokenSource,
  apiKeySource,
  authStorage,
  type BackendPlaces,
  type Clock,
  type CredentialSource,
  createAuthHttp,
  FirstPartyTokenEndpoint,
  firstPartyIssuer,
  installationId,
  type NetworkPolicies,
  PRODUCTION_BASE,
  type RequestSender,
  RuntimeInstances,
  StoredSource,
  selectionOf,
  systemClock,
} from '../auth/index.js'
import type { HttpRoute } from '../environments/index.js'
import { ClosedError } from '../errors.js'
import { watchRecord } from './record-watch.js'

/** What only the embedding program can say of the first-party backend; no configuration sets any of it. */
export interface FirstPartyOptions {
  /** Default: the production backend. */
  readonly places?: BackendPlaces
  /** How this deployment's assertions are made. */
  readonly issuer?: AssertionIssuer
  /** What each account may reach. Default: whatever it is eligible for. */
  readonly networks?: NetworkPolicies
  readonly clock?: Clock
  /** Connects elsewhere than URLs say; TLS still checks their names. For deployments behind a gateway of their own. */
  readonly route?: HttpRoute
}

/** Who is signed in to this home: `CODEX_ACCESS_TOKEN`, then what `auth.json` keeps (reference: auth, 4, "Load order"). */
export interface HomeCredentials {
  readonly from: 'home'
  /** An API key of `OPENAI_API_KEY` comes first. Default false. */
  readonly apiKey?: boolean
  /** Where the login is kept. Default: as `cli_auth_credentials_store` of the configuration says, else `file`. */
  readonly store?: AuthStorageMode
}

/** Milliseconds that a process which ends waits for refreshes. */
const SETTLING = 10_000

type Variables = Readonly<Record<string, string | undefined>>

/** The parts of first-party auth that are one per process. Who is signed in is none of them: that is a manager. */
export class FirstPartyHost {
  readonly runtime: AuthRuntime
  readonly http: AuthHttp
  readonly #env: Variables
  readonly #home: string
  readonly #report: (problem: Error) => void
  readonly #ofHome = new Map<string, Promise<AuthManager>>()
  readonly #managers = new Set<AuthManager>()
  readonly #endings = new Set<() => void>()
  #installation: Promise<string> | undefined
  #isClosed = false

  constructor(
    options: FirstPartyOptions,
    own: {
      readonly home: string
      readonly env: Variables
      readonly client: RequestSender
      readonly onProblem: (problem: Error) => void
    },
  ) {
    const { places = { baseUrl: PRODUCTION_BASE }, issuer = firstPartyIssuer(), clock = systemClock } = options
    const { home, env, client, onProblem } = own
    this.#env = env
    this.#home = home
    this.#report = onProblem
    this.http = createAuthHttp(client)
    const { http } = this
    const instances = new RuntimeInstances({
      issuer,
      places,
      http,
      clock,
      installationId: () => this.#readInstallation(),
      onProblem,
    })
    this.runtime = Object.freeze({
      places,
      issuer,
      instances,
      agents: new AgentTasks({ http, clock }),
      clock,
      selection: selectionOf(env),
      ...(options.networks && { networks: options.networks }),
    })
  }

  /**
   * A manager of this source: a host's own is the only one that it has. That of the home is one for all who ask, so that
   * a login or logout is everybody's. Its keys are kept until the process ends.
   *
   * @param configured where the home's login is kept, when the source does not say
   */
  managerOf(source: CredentialSource | HomeCredentials, configured: AuthStorageMode = 'file'): Promise<AuthManager> {
    if (!('from' in source)) return this.#open(source.kind === 'host' ? [] : [source], source)
    const { apiKey = false, store = configured } = source
    const name = `${store} ${apiKey}`
    const known = this.#ofHome.get(name)
    if (known !== undefined) return known
    const { clock } = this.runtime
    const stored = new StoredSource({
      storage: authStorage(this.#home, store, { onwarning: this.#report }),
      tokens: new FirstPartyTokenEndpoint({ http: this.http, clock }),
      clock,
    })
    const made = this.#open([...(apiKey ? [apiKeySource(this.#env)] : []), accessTokenSource(this.#env), stored])
    this.#ofHome.set(name, made)
    void made.then((manager) => this.#watch(manager), this.#report)
    return made
  }

  /** Read once; when it could not be kept, the next one who needs it tries again. */
  #readInstallation(): Promise<string> {
    if (this.#isClosed) return Promise.reject(new ClosedError('ReeveHost'))
    this.#installation ??= installationId(this.#home).catch((error: unknown) => {
      this.#installation = undefined
      throw error
    })
    return this.#installation
  }

  #watch(manager: AuthManager): void {
    if (!this.#isClosed) this.#endings.add(watchRecord(this.#home, manager, this.#report))
  }

  /**
   * Forgets every key. Resolves when nothing is written to the home any more: refreshes and logouts that had begun are
   * waited for, up to ten seconds, since a session whose refresh is cut off is lost.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    const settled = [...this.#managers].map((manager) => manager.settled())
    await inTime(Promise.allSettled([...settled, this.#installation]), SETTLING)
    for (const end of this.#endings) end()
    this.#endings.clear()
  }

  async #open(sources: readonly CredentialSource[], one?: CredentialSource): Promise<AuthManager> {
    const { clock, instances } = this.runtime
    const manager = await AuthManager.open({
      sources,
      ...(one?.kind === 'host' && { host: one }),
      clock,
      onProblem: this.#report,
    })
    // A host's callback is nothing to wait for: what it gives is not kept here.
    if (one?.kind !== 'host') this.#managers.add(manager)
    this.#endings.add(instances.follow(manager))
    return manager
  }
}

/** Resolves with the work, or after so many milliseconds. */
async function inTime(work: Promise<unknown>, ms: number): Promise<void> {
  const bound = new AbortController()
  const late = wait(ms, undefined, { signal: bound.signal }).catch(() => undefined)
  await Promise.race([work, late])
  bound.abort()
}
