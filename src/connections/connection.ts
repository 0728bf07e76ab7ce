import type { EffectiveServer } from '../catalog/index.js'
import type { Environment } from '../environments/index.js'
import { NotConnectedError, RpcError, SessionExpiredError } from '../errors.js'
import { type JsonObject, MODERN_RPC } from '../protocol/index.js'
import { orAborted } from './abort.js'
import { Attribution } from './attribution.js'
import { type ConnectionOptions, recipeOf } from './connection-options.js'
import type { ConnectionIdentity } from './identity.js'
import { Lifecycle, outcomeError } from './lifecycle.js'
import type { Handshake } from './negotiate.js'
import { OfferUpkeep } from './offer-upkeep.js'
import { type OperationHost, type OperationOptions, runOperation } from './operation.js'
import { Reach } from './reach.js'
import type { ConnectionRoute } from './route.js'
import { Routes } from './routes.js'
import type { ServerOffer } from './server-offer.js'
import type { ServerMessage } from './session.js'
import { SessionRebuild } from './session-rebuild.js'
import { LISTING, LISTING_TIMEOUT, type Recipe, type StartedSession } from './startup.js'
import type { ConnectionState } from './state.js'
import type { RequestOptions } from './types.js'
import { Warnings } from './warnings.js'

/** A caller's options, and how it is sent. */
type SentOptions = OperationOptions & Pick<RequestOptions, 'origin'>

/** Milliseconds that a request which was given up may keep the line waiting for a server that does not answer. */
const QUIET_PATIENCE = 10_000

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
  readonly #upkeep: OfferUpkeep
  readonly #warnings: Warnings
  readonly #attribution: Attribution
  readonly #host: OperationHost
  readonly #callHost: OperationHost
  readonly #rebuild: SessionRebuild

  constructor(options: ConnectionOptions) {
    const { server, timers, random } = options
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
    this.#lifecycle = this.#lifecycleWith(random)
    this.#upkeep = this.#upkeepOf(options)
    this.offer = this.#upkeep.offer
    this.#host = this.#operationHost()
    const renew: OperationHost['renew'] = (expired) => this.#lifecycle.keeper.renew(expired)
    this.#rebuild = new SessionRebuild(server.key, this.#lifecycle.keeper, options.auth)
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
    await this.#upkeep.remark()
    return true
  }

  /** Lists anew, in the background, what is out of date by the server's own word and would not be told of. */
  refreshExpired(): void {
    this.#upkeep.renewExpired()
  }

  /** Lists the tools anew, now; what runs keeps what it has. Rejects with what that failed with. */
  refreshTools(): Promise<void> {
    return this.#upkeep.refreshTools()
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
    this.#rebuild.stop()
    this.#upkeep.stop()
    this.#lifecycle.close()
    await this.#recipe.closings.all()
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

  #notified(message: ServerMessage): void {
    if (this.#upkeep.heard(message.method)) return
    if (message.method !== 'notifications/progress') this.routes.notify(message)
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
    const changed = state.state === 'ready' ? this.#upkeep.takeUntold() : []
    if (state.state === 'ready') this.#attribution.agreed(state.handshake.era)
    this.routes.publish({ type: 'state', state, changed })
    this.#adjust()
  }

  #recipeOf(options: ConnectionOptions): Recipe {
    return recipeOf(options, {
      tool: (name) => this.offer.catalog.tool(name),
      warn: (warning) => this.#warnings.add(warning),
      handlers: {
        onRequest: (message, signal) => this.routes.answer(message, signal),
        onNotification: (message) => this.#notified(message),
        onMissed: (parts) => this.#upkeep.renew(parts),
        onClosed: (session, closed) => this.#lifecycle.ended(session, closed),
        onWarning: (warning) => this.#warnings.add(warning),
      },
    })
  }

  #upkeepOf({ server: { key, config }, timers, debounce, keep, began }: ConnectionOptions): OfferUpkeep {
    const { lifetime } = this.#lifecycle
    return new OfferUpkeep({
      key,
      overHttp: config.transport.type !== 'stdio',
      timers,
      debounce,
      keep,
      began,
      lifetime,
      session: () => this.#lifecycle.keeper.current,
      settled: () => this.settled(),
      send: (method, params) => runOperation(this.#host, method, params, { signal: lifetime, ...LISTING }, undefined),
      warn: (warning) => this.#warnings.add(warning),
      onChanged: (what) => this.routes.publish({ type: 'inventory', what }),
    })
  }

  #lifecycleWith(random: (() => number) | undefined): Lifecycle {
    const hooks = {
      onState: (state: ConnectionState) => this.#changed(state),
      publish: (started: StartedSession) => this.#upkeep.publish(started),
      onRenewed: () => {
        if (this.state.state === 'ready') this.#attribution.agreed(this.state.handshake.era)
        // A server that forgot its sessions is often another version of itself.
        this.#upkeep.renew(['tools', 'resources', 'prompts'])
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
      away: () => this.reach.away() ?? this.#rebuild.pending(),
      outdated: (session) => this.#rebuild.outdated(session),
      current: () => lifecycle.keeper.current,
      demand: () => lifecycle.demand(),
      renew: (expired) => lifecycle.renewed(expired),
      // The pipes of a process that no longer reads are of no use; an HTTP server may only have lost one exchange.
      giveUp: (session) => (this.server.config.transport.type === 'stdio' ? session.close() : Promise.resolve()),
    }
  }
}
