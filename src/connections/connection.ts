import type { EffectiveServer } from '../catalog/index.js'
import type { Environment } from '../environments/index.js'
import { NotConnectedError, RpcError, SessionExpiredError } from '../errors.js'
import { type JsonObject, MODERN_RPC } from '../protocol/index.js'
import { orAborted } from './abort.js'
import { ActiveTime } from './active-time.js'
import { Attribution } from './attribution.js'
import { Closings } from './closings.js'
import { EraKnowledge } from './eras/knowledge.js'
import type { EraMemory } from './eras/memory.js'
import type { ConnectionIdentity } from './identity.js'
import type { Inventory } from './inventory.js'
import { type InventoryPart, type ListingContext, listingFailed } from './inventory-listing.js'
import { Lifecycle, outcomeError } from './lifecycle.js'
import type { Handshake } from './negotiate.js'
import type { TransportOpener } from './opener.js'
import { type OperationHost, type OperationOptions, runOperation } from './operation.js'
import { Reach } from './reach.js'
import { type Debounce, Relister } from './relister.js'
import type { ConnectionRoute } from './route.js'
import { Routes } from './routes.js'
import { ServerOffer } from './server-offer.js'
import type { ServerMessage } from './session.js'
import { SessionMemory } from './session-memory.js'
import { LISTING, LISTING_TIMEOUT, type Recipe, type StartedSession } from './startup.js'
import type { StoredAuthState } from './startup-failure.js'
import type { ConnectionState } from './state.js'
import type { Timers } from './timers.js'
import type { ClientProfile, RequestOptions } from './types.js'
import { Warnings } from './warnings.js'

export interface ConnectionOptions {
  readonly server: EffectiveServer
  readonly identity: ConnectionIdentity
  readonly profile: ClientProfile
  readonly open: TransportOpener
  /** Where the server runs, where that is known: its state decides when a lost server is started again. */
  readonly environment?: Environment
  readonly timers: Timers
  /** Keeps what the server offers beyond this process. */
  readonly keep?: (inventory: Inventory) => void
  /** Which era each server was found to speak. */
  readonly eras?: EraMemory
  readonly authState?: (server: EffectiveServer) => StoredAuthState | undefined
  readonly debounce?: Debounce
  /** From 0 up to 1; for the jitter of restarts. */
  readonly random?: () => number
}

/** A caller's options, and how it is sent. */
type SentOptions = OperationOptions & Pick<RequestOptions, 'origin'>

/** Milliseconds that a request which was given up may keep the line waiting for a server that does not answer. */
const QUIET_PATIENCE = 10_000

const LIST_CHANGED: ReadonlyMap<string, InventoryPart> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
])

/**
 * One server, kept up: started, listed, restarted after a crash, renewed after its session expired. Shared by all who
 * need the same identity; each joins with a route of its own.
 */
export class Connection {
  readonly server: EffectiveServer
  readonly identity: ConnectionIdentity
  readonly environment: Environment | undefined
  readonly reach: Reach
  readonly offer: ServerOffer
  readonly routes: Routes
  readonly #recipe: Recipe
  readonly #lifecycle: Lifecycle
  readonly #relister: Relister
  readonly #warnings: Warnings
  readonly #attribution: Attribution
  readonly #host: OperationHost
  readonly #callHost: OperationHost
  /** What a start changed, until it is ready. */
  readonly #untold = new Set<InventoryPart>()
  #marking: Promise<boolean> | undefined

  constructor(options: ConnectionOptions) {
    const { server, timers, random, keep } = options
    this.server = server
    this.identity = options.identity
    this.environment = options.environment
    this.reach = new Reach(server.key, options.environment, server.config.transport.type === 'stdio')
    this.#attribution = new Attribution({
      transport: server.config.transport.type,
      clientCapabilities: options.profile.capabilities,
    })
    this.routes = new Routes(server.key, this.#attribution, timers, () => this.#quiet())
    this.#warnings = new Warnings(server.key, (warning) => this.routes.publish({ type: 'warning', warning }))
    this.#recipe = this.#recipeOf(options)
    this.offer = new ServerOffer(server.key, timers, {
      onPublished: (inventory) => this.#kept(keep, inventory),
      onChanged: (what) => this.routes.publish({ type: 'inventory', what }),
    })
    this.#relister = new Relister(timers, (part) => this.#relist(part), options.debounce)
    this.#lifecycle = this.#lifecycleWith(random)
    this.#host = this.#operationHost()
    const renew: OperationHost['renew'] = (expired) => this.#lifecycle.keeper.renew(expired)
    this.#callHost = { ...this.#host, rebuilds: false, renew }
  }

  get state(): ConnectionState {
    return this.#lifecycle.state
  }

  join(route: ConnectionRoute): void {
    this.routes.join(route)
    this.#adjust()
  }

  leave(route: ConnectionRoute): void {
    this.routes.leave(route)
    this.#adjust()
  }

  /** Starts it unless it is up or starting; what the server asks until it is up is for `route`. */
  start(route?: ConnectionRoute): void {
    void this.#started(route)
  }

  /** Resolves once no startup is under way, to how things are then. Starts nothing. */
  settled(signal?: AbortSignal): Promise<ConnectionState> {
    return this.#lifecycle.settled(signal)
  }

  /**
   * The server, up: waits for a startup under way, and starts it now if it is not up, also within the delay after a
   * crash and after a failure.
   *
   * @throws {StartupFailedError} as the attempt ended
   * @throws {ClosedError} the connection was closed
   * @throws {CancelledError} the signal fired, or the startup was cancelled
   */
  async ready(route: ConnectionRoute, signal?: AbortSignal): Promise<Handshake> {
    const outcome = await orAborted(this.#started(route), signal)
    if (outcome.state !== 'ready') throw outcomeError(outcome, this.server.key)
    return outcome.handshake
  }

  /** Raw relay with one recovery; see `runOperation`. What is set up for the holder already is not sent again. */
  request(
    route: ConnectionRoute,
    method: string,
    params: JsonObject | undefined,
    { origin, ...given }: SentOptions = {},
  ): Promise<JsonObject> {
    const options = this.#levelled(route, given)
    const send = async (sentMethod: string, sent: JsonObject | undefined) => {
      const result = await this.#marked(sentMethod, () =>
        runOperation(this.#host, sentMethod, sent, options, { origin, route }),
      )
      this.#lifecycle.keeper.note(sentMethod, sent)
      return result
    }
    return this.routes.request(route, method, params, send, options.signal)
  }

  /**
   * `tools/call`, within a catalog lease. A lost connection is not rebuilt here even for what never left: the restarted
   * server may define the tool otherwise, so the caller checks again first.
   */
  call(route: ConnectionRoute, params: JsonObject, { origin, ...given }: SentOptions): Promise<JsonObject> {
    const options = this.#levelled(route, given)
    const send = (method: string, sent: JsonObject | undefined) =>
      runOperation(this.#callHost, method, sent, options, { origin, route })
    return this.routes.request(route, 'tools/call', params, send, options.signal)
  }

  async notify(method: string, params: JsonObject | undefined): Promise<void> {
    const session = this.#lifecycle.keeper.current
    if (session === undefined) throw new NotConnectedError(this.server.key)
    try {
      await session.notify(method, params)
    } catch (error) {
      if (!(error instanceof SessionExpiredError)) throw error
      const next = await this.#lifecycle.renewed(session)
      await next.notify(method, params)
    }
  }

  /**
   * After a complaint of mismatched headers the tools are listed anew, for which arguments are mirrored may have changed.
   * False for any other error: then a repetition is of no use.
   */
  async remarked(error: unknown): Promise<boolean> {
    if (!(error instanceof RpcError) || error.rpcCode !== MODERN_RPC.headerMismatch) return false
    if (this.#lifecycle.keeper.current?.era !== 'modern') return false
    this.#marking ??= this.#relist('tools').finally(() => {
      this.#marking = undefined
    })
    await this.#marking
    return true
  }

  /** Lists anew, in the background, what is out of date by the server's own word and would not be told of. */
  refreshExpired(): void {
    const session = this.#lifecycle.keeper.current
    if (session === undefined) return
    for (const part of this.offer.takeExpired()) if (!session.announces(part)) this.#relister.changed(part)
  }

  /** Ends a startup under way, and the wait for a restart. A connection that is up stays up. */
  cancelStartup(): void {
    this.#lifecycle.cancelStartup()
  }

  /** Nobody holds it for now, and a server that ends meanwhile stays down. Returns what undoes that. */
  park(): () => void {
    this.#lifecycle.retire(true)
    return () => this.#lifecycle.retire(false)
  }

  /** Ends everything now; resolves when it is gone. */
  async close(): Promise<void> {
    this.#relister.stop()
    this.#lifecycle.close()
    await this.#recipe.closings.all()
  }

  async #publish(started: StartedSession): Promise<() => void> {
    for (const part of await this.offer.publish(started.inventory)) this.#untold.add(part)
    return () => {
      for (const warning of started.warnings) this.#warnings.add(warning)
      void this.#takeLate(started)
    }
  }

  async #takeLate({ session, late }: StartedSession): Promise<void> {
    if (late === undefined) return
    const { resources, prompts, warnings } = await late
    if (this.#lifecycle.keeper.current !== session) return
    for (const warning of warnings) this.#warnings.add(warning)
    await this.offer.merge('resources', resources)
    await this.offer.merge('prompts', prompts)
  }

  #levelled(route: ConnectionRoute, options: OperationOptions): OperationOptions {
    return Object.hasOwn(options, 'logLevel') ? options : { ...options, logLevel: this.routes.logLevelOf(route) }
  }

  async #marked(method: string, send: () => Promise<JsonObject>): Promise<JsonObject> {
    try {
      return await send()
    } catch (error) {
      if (method !== 'tools/call' || !(await this.remarked(error))) throw error
      return send()
    }
  }

  async #relist(part: InventoryPart): Promise<boolean> {
    // Said during a startup, it may concern a page that was listed before.
    const outcome = await this.settled()
    if (outcome.state !== 'ready') return false
    const signal = this.#lifecycle.lifetime
    const context: ListingContext = {
      key: this.server.key,
      handshake: outcome.handshake,
      overHttp: this.server.config.transport.type !== 'stdio',
      send: (method, params) => runOperation(this.#host, method, params, { signal, ...LISTING }, undefined),
      warn: (warning) => this.#warnings.add(warning),
      evenUndeclared: true,
    }
    return this.offer.refresh(part, context, (error) => {
      if (!signal.aborted) this.#warnings.add(listingFailed(this.server.key, `${part}/list`, error))
    })
  }

  #kept(keep: ConnectionOptions['keep'], inventory: Inventory): void {
    try {
      keep?.(inventory)
    } catch (error) {
      this.#warnings.add(error)
    }
  }

  #notified(message: ServerMessage): void {
    const part = LIST_CHANGED.get(message.method)
    if (part !== undefined) this.#relister.changed(part)
    else if (message.method !== 'notifications/progress') this.routes.notify(message)
    else this.#warnings.add(new Error('progress of a call that is not out'))
  }

  /**
   * Resolves when the server has read all that it was sent by now: what it sends later has nothing to do with a request
   * that was given up before. Any answer says so, a refusal too. Bounded; never rejects.
   */
  async #quiet(): Promise<void> {
    const session = this.#lifecycle.keeper.current
    const question = session?.era === 'modern' ? 'server/discover' : 'ping'
    await session?.request(question, undefined, { timeoutMs: QUIET_PATIENCE }).catch(() => undefined)
  }

  #started(route: ConnectionRoute | undefined): Promise<ConnectionState> {
    const { state } = this.state
    if (route !== undefined && state !== 'starting' && state !== 'ready' && state !== 'closed')
      this.routes.startedFor(route)
    return this.#lifecycle.started()
  }

  /** Tells the server what its holders want together, since some came or went. */
  #adjust(): void {
    if (this.state.state !== 'ready') return
    const signal = this.#lifecycle.lifetime
    const send = async (method: string, params: JsonObject | undefined) => {
      const result = await runOperation(this.#host, method, params, { signal, timeoutMs: LISTING_TIMEOUT }, undefined)
      this.#lifecycle.keeper.note(method, params)
      return result
    }
    this.routes.adjust(send).catch((error: unknown) => {
      if (!signal.aborted) this.#warnings.add(error)
    })
  }

  #changed(state: ConnectionState): void {
    const changed = state.state === 'ready' ? [...this.#untold] : []
    if (state.state === 'ready') {
      this.#attribution.agreed(state.handshake.era)
      this.#untold.clear()
    }
    this.routes.publish({ type: 'state', state, changed })
    this.#adjust()
  }

  #recipeOf({ server, identity, profile, open, environment, timers, authState, eras }: ConnectionOptions): Recipe {
    const warn = (warning: unknown) => this.#warnings.add(warning)
    return {
      server,
      profile,
      open,
      environment,
      timers,
      active: new ActiveTime(),
      closings: new Closings(warn),
      eras: new EraKnowledge({
        key: server.key,
        pinned: server.config.protocol,
        identity: identity.launch,
        memory: eras,
        now: () => timers.now(),
        warn,
      }),
      memory: new SessionMemory(),
      tool: (name) => this.offer.catalog.tool(name),
      handlers: {
        onRequest: (message, signal) => this.routes.answer(message, signal),
        onNotification: (message) => this.#notified(message),
        onMissed: (parts) => {
          for (const part of parts) this.#relister.changed(part)
        },
        onClosed: (session, closed) => this.#lifecycle.ended(session, closed),
        onWarning: warn,
      },
      ...(authState && { authState }),
    }
  }

  #lifecycleWith(random: (() => number) | undefined): Lifecycle {
    const hooks = {
      onState: (state: ConnectionState) => this.#changed(state),
      publish: (started: StartedSession) => this.#publish(started),
      onRenewed: () => {
        if (this.state.state === 'ready') this.#attribution.agreed(this.state.handshake.era)
        // A server that forgot its sessions is often another version of itself.
        for (const part of ['tools', 'resources', 'prompts'] as const) this.#relister.changed(part)
      },
    }
    return new Lifecycle(this.#recipe, hooks, random)
  }

  #operationHost(): OperationHost {
    const lifecycle = this.#lifecycle
    return {
      key: this.server.key,
      timers: this.#recipe.timers,
      active: this.#recipe.active,
      capabilities: this.#recipe.profile.capabilities,
      ask: (question, signal) => this.routes.answer(question, signal),
      rebuilds: true,
      away: () => this.reach.away(),
      current: () => lifecycle.keeper.current,
      demand: () => lifecycle.demand(),
      renew: (expired) => lifecycle.renewed(expired),
      // The pipes of a process that no longer reads are of no use; an HTTP server may only have lost one exchange.
      giveUp: (session) => (this.server.config.transport.type === 'stdio' ? session.close() : Promise.resolve()),
    }
  }
}
