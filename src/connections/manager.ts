import type { AuthContext } from '../auth/index.js'
import type { EffectiveServer } from '../catalog/index.js'
import type { Environments, PlacedEnvironment } from '../environments/index.js'
import { ClosedError, ServerDisabledError, UnknownServerError } from '../errors.js'
import { compareKeys, type ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { orAborted } from './abort.js'
import { cachedInventory } from './cached-inventory.js'
import { type CaptureOptions, waitForCapture } from './capture-wait.js'
import { type CapturedServer, capture } from './captured.js'
import { firstPartyOf, sameFirstParty } from './first-party.js'
import { Grace } from './grace.js'
import { cacheIdentity, connectionIdentity, type IdentityContext } from './identity.js'
import type { InventorySlot } from './inventory.js'
import type { Ending, Lease } from './lease.js'
import { OfferWatch } from './offer-watch.js'
import { type ConnectionPool, type ConnectionRequest, isReusable } from './pool.js'
import type { CallPayload, CallRunOptions, PreparedCall } from './prepared-call.js'
import type { HostVariables } from './referenced-variables.js'
import { validateRequired } from './required-servers.js'
import type { ConnectionNews, ConnectionRoute } from './route.js'
import { ConnectionSet } from './set.js'
import { Standstill } from './standstill.js'
import { StartupReport } from './startup-report.js'
import { statusRow } from './status-row.js'
import type { ClientProfile, ConnectionEvent, ReadyClient, ServerRequestHandler, ServerStatus } from './types.js'
import { offerBasis, type View } from './view.js'

export interface ManagerOptions {
  readonly pool: ConnectionPool
  /** Connections that are not shared belong to this owner. */
  readonly owner: string
  /**
   * Connections are shared with every manager of this owner whose client has the same capabilities. Servers are told
   * this of the client, since it is not one client that they serve. Absent: none is shared.
   */
  readonly sharing?: { readonly owner: string; readonly clientInfo: JsonObject }
  readonly profile: ClientProfile
  /** The host's variables; read at every publication. */
  readonly env: HostVariables
  /** Working directory of local stdio servers that have none. */
  readonly fallbackCwd: string
  /** Milliseconds that a capture waits for optional servers, all together; 0 waits for their startup. Default 1000. */
  readonly graceMs?: number
  /** Absent: every question of a server gets method-not-found. */
  readonly onRequest?: ServerRequestHandler
  /** What it throws becomes an uncaught exception of the process. */
  readonly onEvent?: (event: ConnectionEvent) => void
  /** Where servers run, looked up at every publication. Absent: wherever the pool opens them. */
  readonly environments?: Environments
  /** First-party auth of whose connections these are. Absent: servers have none. */
  readonly auth?: AuthContext
  /** For whom; absent: the local user. */
  readonly principal?: string
  /** A digest of a server's stored credentials. Default: by the logins of the pool. */
  readonly storedCredentials?: (server: EffectiveServer) => string | undefined
  /** Where what a server offers is kept, for those that have a place of their own. */
  readonly slotOf?: (server: EffectiveServer) => InventorySlot | undefined
}

const DEFAULT_GRACE = 1_000
/** Milliseconds that a shutdown waits for its connections. */
const SHUTDOWN = 10_000

/**
 * The connections of one thread. Publishes immutable sets, each with one assignment; whoever took something from an
 * older set keeps what it took.
 */
export class ConnectionManager {
  readonly #options: ManagerOptions
  readonly #report: StartupReport
  readonly #watch: OfferWatch
  readonly #standstill = new Standstill()
  #set: ConnectionSet
  #publishedAt: number
  /** Of the logins that the set was published with. */
  #logins: string | undefined
  readonly #unwatch: (() => void) | undefined
  readonly #unfollow: (() => void) | undefined
  #closed: Promise<void> | undefined

  constructor(options: ManagerOptions) {
    this.#options = options
    this.#report = new StartupReport((event) => this.#emit(event))
    this.#watch = new OfferWatch((event) => this.#emit(event))
    this.#set = new ConnectionSet([], this.#newGrace())
    this.#publishedAt = options.pool.timers.now()
    this.#logins = options.pool.logins?.version()
    this.#unwatch = options.pool.logins?.onchange(() => this.#closed === undefined && this.#seeLogins())
    this.#unfollow = options.auth?.manager.subscribe(() => this.#closed === undefined && this.#seeAccount())
  }

  /**
   * Publishes a set for these servers and starts what has to be started, all at once. Connections whose identity is
   * unchanged and that are up or starting are kept, without listing anything again; `fresh` keeps none (reference:
   * connections, 4). What no set holds any more is closed after its work.
   *
   * @throws {ClosedError}
   */
  replace(servers: readonly EffectiveServer[], options: { readonly fresh?: boolean } = {}): void {
    if (this.#closed !== undefined) throw new ClosedError('the connection manager')
    const before = this.#set
    this.#logins = this.#options.pool.logins?.version()
    const set = new ConnectionSet(
      servers.map((server) =>
        this.#view(server, options.fresh === true ? undefined : before.view(server.key), options),
      ),
      this.#newGrace(),
    )
    this.#set = set
    this.#publishedAt = this.#options.pool.timers.now()
    for (const { key } of before.views) if (set.view(key)?.lease === undefined) this.#report.forget(key)
    void before.release('drained')
    this.#watch.published(before, set)
    this.#startAll(set)
  }

  /** Takes every enabled server as it is after waiting as the options say. In the order of the published servers. */
  async capture(options: CaptureOptions = {}): Promise<readonly CapturedServer[]> {
    for (;;) {
      this.#seeLogins()
      const set = this.#openSet()
      await waitForCapture(set, options)
      if (set === this.#openSet()) return Object.freeze(set.enabled.map(capture))
    }
  }

  /** See `validateRequired`: one error for all required servers that failed. */
  validateRequired(signal?: AbortSignal): Promise<void> {
    return validateRequired(this.#openSet(), signal)
  }

  /** One row per server, by name, then environment. Starts and awaits nothing. */
  statuses(): readonly ServerStatus[] {
    return [...this.#set.views]
      .sort((a, b) => compareKeys(a.key, b.key))
      .map((view) => statusRow(view, this.#publishedAt))
  }

  /**
   * One server, up: waits for it, or starts it now.
   *
   * @throws {UnknownServerError | ServerDisabledError | StartupFailedError | CancelledError | ClosedError}
   */
  async ready(key: ServerKey, signal?: AbortSignal): Promise<ReadyClient> {
    this.#seeLogins()
    for (;;) {
      const lease = this.#lease(key)
      try {
        return await lease.ready(signal)
      } catch (error) {
        // Another set may have been published meanwhile, with another connection to this server.
        if (!(error instanceof ClosedError) || this.#lease(key) === lease) throw error
      }
    }
  }

  /** One server as it is once it is up; as `ready`. */
  async captureOne(key: ServerKey, signal?: AbortSignal): Promise<CapturedServer> {
    await this.ready(key, signal)
    const view = this.#openSet().view(key)
    if (view?.lease === undefined) throw new ServerDisabledError(key)
    return capture({ ...view, lease: view.lease })
  }

  /**
   * Lists the tools of a server anew, once it is up.
   *
   * @throws as `ready`, and what the listing failed with
   */
  async refreshTools(key: ServerKey, signal?: AbortSignal): Promise<CapturedServer> {
    await this.ready(key, signal)
    await orAborted(this.#lease(key).connection.refreshTools(), signal)
    return this.captureOne(key, signal)
  }

  /** The clocks of all calls under way, and of those to come. */
  get clocks(): Pick<Standstill, 'pause' | 'resume'> {
    return this.#standstill
  }

  /** Of the tools that a server has now; undefined while it is not up. */
  catalogRevision(key: ServerKey): number | undefined {
    const view = this.#openSet().view(key)
    return view?.lease && offerBasis(view) === 'live'
      ? view.lease.connection.offer.catalog.snapshot.revision
      : undefined
  }

  /** Carries a prepared call out; see `PreparedCall.run`. */
  invoke(
    prepared: PreparedCall,
    args: JsonObject | undefined,
    meta: JsonObject | undefined,
    options?: CallRunOptions,
  ): Promise<JsonObject> {
    const payload: CallPayload = { ...(args && { arguments: args }), ...(meta && { _meta: meta }) }
    return prepared.run(payload, options)
  }

  /** Ends the startups under way, and the waits for restarts, that no other manager shares. Servers that are up stay up. */
  cancelStartups(): void {
    for (const { lease } of this.#set.enabled) lease.cancelStartup()
  }

  /** Ends everything at once, in parallel; resolves when it is gone, after 10 s at the latest. */
  close(): Promise<void> {
    // What the shutdown sets off must find the manager closed already.
    this.#closed ??= Promise.resolve().then(() => this.#shutDown())
    return this.#closed
  }

  /** Publishes the same servers anew when somebody logged in or out: what that concerns is connected to anew. */
  #seeLogins(): void {
    const set = this.#openSet()
    const version = this.#options.pool.logins?.version()
    if (version !== this.#logins) this.replace(set.views.map(({ server }) => server))
  }

  /** The same when the account of the first-party backend is another one, or a server of it was not up. */
  #seeAccount(): void {
    const { views } = this.#openSet()
    const isConcerned = ({ server, lease }: View) => {
      const own = this.#firstParty(server)
      if (lease === undefined || own === undefined) return false
      const { state, identity } = lease.connection
      return state.state === 'failed' || !sameFirstParty(identity, own.identity)
    }
    if (views.some(isConcerned)) this.replace(views.map(({ server }) => server))
  }

  #firstParty(server: EffectiveServer) {
    return firstPartyOf(server, this.#options.auth, this.#options.env)
  }

  #view(server: EffectiveServer, before: View | undefined, options: { readonly fresh?: boolean }): View {
    const { key } = server
    if (!server.config.enabled) return Object.freeze({ key, server, lease: undefined, cached: undefined })
    const { pool, fallbackCwd } = this.#options
    const holding = this.#holding(server)
    const environment = this.#environment(server)
    const firstParty = this.#firstParty(server)
    const about = this.#identityContext(server, holding.profile, environment)
    const context = { ...about, ...(firstParty && { firstParty: firstParty.identity }) }
    const identity = connectionIdentity(server, context)
    const cacheKey = cacheIdentity(server, context)
    const kept = before?.lease
    const usable =
      kept !== undefined &&
      kept.connection.identity.digest === identity.digest &&
      kept.connection.environment === environment?.environment &&
      isReusable(kept.connection, server)
    const placed = environment === undefined ? {} : { environment }
    const slot = this.#options.slotOf?.(server)
    const standstill = this.#standstill
    const request = {
      ...holding,
      ...placed,
      ...(firstParty && { auth: firstParty.auth }),
      ...(context.principal !== undefined && { principal: context.principal }),
      server,
      identity,
      fallbackCwd,
      cacheIdentity: cacheKey,
      ...(slot && { slot }),
      standstill,
    }
    const lease = usable ? kept.share() : pool.acquire(request, this.#route(key), options)
    const cached = slot === undefined ? cachedInventory(pool.cache, cacheKey) : slot.get()
    return Object.freeze({ key, server, lease, cached })
  }

  /** Whose the connection to a server is, and as whom it is spoken to. */
  #holding({ config }: EffectiveServer): Pick<ConnectionRequest, 'owner' | 'profile' | 'shared'> {
    const { owner, profile, sharing } = this.#options
    if (sharing === undefined || config.sharing === 'isolated') return { owner, profile, shared: false }
    return { owner: sharing.owner, profile: { ...profile, clientInfo: sharing.clientInfo }, shared: true }
  }

  /** Null for an id that is not known; undefined where the pool knows better. */
  #environment({ config }: EffectiveServer): PlacedEnvironment | null | undefined {
    const { environments } = this.#options
    return environments === undefined ? undefined : (environments.get(config.environmentId) ?? null)
  }

  #identityContext(
    server: EffectiveServer,
    profile: ClientProfile,
    environment: PlacedEnvironment | null | undefined,
  ): IdentityContext {
    const { env, fallbackCwd, principal } = this.#options
    const environmentHandle = environment?.handle
    const storedCredentials = this.#storedCredentials(server)
    return {
      profile,
      env,
      fallbackCwd,
      ...(environmentHandle !== undefined && { environmentHandle }),
      ...(storedCredentials !== undefined && { storedCredentials }),
      ...(principal !== undefined && { principal }),
    }
  }

  #storedCredentials(server: EffectiveServer): string | undefined {
    const { storedCredentials, pool, principal } = this.#options
    return storedCredentials === undefined ? pool.logins?.digest(server, principal) : storedCredentials(server)
  }

  #startAll(set: ConnectionSet): void {
    for (const { lease } of set.enabled) lease.start()
    // Those that another manager of this owner has started already.
    for (const { key, lease } of set.enabled) this.#report.changed(key, lease.connection.state)
    const pending = set.enabled.filter(({ lease }) => lease.connection.state.state === 'starting')
    if (pending.length === 0) return
    void Promise.all(pending.map(({ lease }) => lease.connection.settled())).then(() => {
      if (this.#set === set && this.#closed === undefined) this.#report.summary(set)
    })
  }

  #route(key: ServerKey): ConnectionRoute {
    const route: ConnectionRoute = {
      onRequest: this.#options.onRequest,
      onNews: (news) => {
        const view = this.#set.view(key)
        if (this.#closed === undefined && view?.lease?.route === route) this.#heard(view, news)
      },
    }
    return route
  }

  #heard(view: View, news: ConnectionNews): void {
    if (news.type === 'state') {
      this.#report.changed(view.key, news.state)
      this.#watch.changed(view, news.changed)
    } else {
      this.#emit(eventOf(view.key, news))
    }
  }

  /** A listener that throws is told so where nothing of ours is in the middle of something. */
  #emit(event: ConnectionEvent): void {
    try {
      this.#options.onEvent?.(event)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }

  #lease(key: ServerKey): Lease {
    const view = this.#openSet().view(key)
    if (view === undefined) throw new UnknownServerError(key)
    if (view.lease === undefined) throw new ServerDisabledError(key)
    return view.lease
  }

  #openSet(): ConnectionSet {
    if (this.#closed !== undefined) throw new ClosedError('the connection manager')
    return this.#set
  }

  #newGrace(): Grace {
    return new Grace(this.#options.pool.timers, this.#options.graceMs ?? DEFAULT_GRACE)
  }

  async #shutDown(): Promise<void> {
    this.#unwatch?.()
    this.#unfollow?.()
    const how: Ending = 'now'
    const gone = this.#set.release(how)
    await new Promise<void>((resolve) => {
      const bound = this.#options.pool.timers.after(SHUTDOWN, resolve)
      void gone.finally(() => {
        bound.cancel()
        resolve()
      })
    })
  }
}

function eventOf(key: ServerKey, news: Exclude<ConnectionNews, { type: 'state' }>): ConnectionEvent {
  switch (news.type) {
    case 'inventory':
      return { type: 'inventory_changed', key, what: news.what }
    case 'notification':
      return { type: 'notification', notification: news.notification }
    case 'warning':
      return { type: 'warning', key, code: news.warning.code, message: news.warning.message }
  }
}
