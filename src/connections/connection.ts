import type { EffectiveServer } from '../catalog/index.js'
import { NotConnectedError, SessionExpiredError } from '../errors.js'
import type { JsonObject } from '../protocol/index.js'
import { orAborted } from './abort.js'
import { ActiveTime } from './active-time.js'
import { Activity } from './activity.js'
import { Closings } from './closings.js'
import { EraKnowledge } from './eras/knowledge.js'
import type { EraMemory } from './eras/memory.js'
import type { ConnectionIdentity } from './identity.js'
import type { Inventory } from './inventory.js'
import { type InventoryPart, type ListingContext, listingFailed } from './inventory-listing.js'
import { Lifecycle, outcomeError } from './lifecycle.js'
import type { Handshake } from './negotiate.js'
import type { TransportOpener } from './opener.js'
import { type OperationHost, runOperation } from './operation.js'
import { readyClient } from './ready-client.js'
import { type Debounce, Relister } from './relister.js'
import type { ConnectionRoute } from './route.js'
import { Routes } from './routes.js'
import { ServerOffer } from './server-offer.js'
import type { ServerMessage } from './session.js'
import { SessionMemory } from './session-memory.js'
import { LISTING_TIMEOUT, type Recipe, type StartedSession } from './startup.js'
import type { StoredAuthState } from './startup-failure.js'
import type { ConnectionState } from './state.js'
import type { Timers } from './timers.js'
import type { ClientProfile, ReadyClient, RequestOptions } from './types.js'
import { Warnings } from './warnings.js'

export interface ConnectionOptions {
  readonly server: EffectiveServer
  readonly identity: ConnectionIdentity
  readonly profile: ClientProfile
  readonly open: TransportOpener
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
  readonly offer: ServerOffer
  readonly #recipe: Recipe
  readonly #lifecycle: Lifecycle
  readonly #routes: Routes
  readonly #relister: Relister
  readonly #warnings: Warnings
  readonly #activity = new Activity()
  readonly #host: OperationHost
  readonly #callHost: OperationHost

  constructor(options: ConnectionOptions) {
    const { server, timers, random, keep } = options
    this.server = server
    this.identity = options.identity
    this.#routes = new Routes(server.key)
    this.#warnings = new Warnings(server.key, (warning) => this.#routes.publish({ type: 'warning', warning }))
    this.#recipe = this.#recipeOf(options)
    this.offer = new ServerOffer(server.key, timers, {
      onPublished: (inventory) => this.#kept(keep, inventory),
      onChanged: (what) => this.#routes.publish({ type: 'inventory', what }),
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

  /** Adds a holder; returns what takes it out again. */
  join(route: ConnectionRoute): () => void {
    return this.#routes.join(route)
  }

  /** Starts it unless it is up or starting. */
  start(): void {
    void this.#lifecycle.started()
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
  async ready(route: ConnectionRoute, signal?: AbortSignal): Promise<ReadyClient> {
    const outcome = await orAborted(this.#lifecycle.started(), signal)
    if (outcome.state !== 'ready') throw outcomeError(outcome, this.server.key)
    return this.client(route, outcome.handshake)
  }

  /** A holder's client for a handshake that is known. */
  client(route: ConnectionRoute, handshake: Handshake): ReadyClient {
    return readyClient(handshake, {
      request: (method, params, options) => this.request(route, method, params, options),
      notify: (method, params) => this.#notify(method, params),
    })
  }

  /** Raw relay with one recovery; see `runOperation`. */
  async request(
    route: ConnectionRoute,
    method: string,
    params: JsonObject | undefined,
    { origin, ...options }: RequestOptions = {},
  ): Promise<JsonObject> {
    const over = this.#activity.begin()
    try {
      const result = await runOperation(this.#host, method, params, options, { origin, route })
      this.#lifecycle.keeper.note(method, params)
      return result
    } finally {
      over()
    }
  }

  /**
   * `tools/call`, within a catalog lease. A lost connection is not rebuilt here even for what never left: the restarted
   * server may define the tool otherwise, so the caller checks again first.
   */
  async call(route: ConnectionRoute, params: JsonObject, { origin, ...options }: RequestOptions): Promise<JsonObject> {
    return runOperation(this.#callHost, 'tools/call', params, options, { origin, route })
  }

  /** Counts as work until the returned function is called: a retired connection waits for it. */
  hold(): () => void {
    return this.#activity.begin()
  }

  /** Ends a startup under way, and the wait for a restart. A connection that is up stays up. */
  cancelStartup(): void {
    this.#lifecycle.cancelStartup()
  }

  /** Closes once the work under way is over, or after `boundMs`. */
  async retire(boundMs: number): Promise<void> {
    this.#lifecycle.retire()
    await new Promise<void>((resolve) => {
      const timer = this.#recipe.timers.after(boundMs, resolve)
      void this.#activity.idle().then(() => {
        timer.cancel()
        resolve()
      })
    })
    await this.close()
  }

  /** Ends everything now; resolves when it is gone. */
  async close(): Promise<void> {
    this.#relister.stop()
    this.#lifecycle.close()
    await this.#recipe.closings.all()
  }

  async #publish(started: StartedSession): Promise<() => void> {
    const changed = await this.offer.publish(started.inventory)
    return () => {
      for (const warning of started.warnings) this.#warnings.add(warning)
      for (const what of changed) this.#routes.publish({ type: 'inventory', what })
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

  async #relist(part: InventoryPart): Promise<boolean> {
    // Said during a startup, it may concern a page that was listed before.
    const outcome = await this.settled()
    if (outcome.state !== 'ready') return false
    const signal = this.#lifecycle.lifetime
    const context: ListingContext = {
      key: this.server.key,
      handshake: outcome.handshake,
      send: (method, params) =>
        runOperation(this.#host, method, params, { signal, timeoutMs: LISTING_TIMEOUT }, undefined),
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
    else if (message.method !== 'notifications/progress') this.#routes.notify(message)
    else this.#warnings.add(new Error('progress of a call that is not out'))
  }

  async #notify(method: string, params: JsonObject | undefined): Promise<void> {
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

  #recipeOf({ server, identity, profile, open, timers, authState, eras }: ConnectionOptions): Recipe {
    const warn = (warning: unknown) => this.#warnings.add(warning)
    return {
      server,
      profile,
      open,
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
        onRequest: (message, signal) => this.#routes.answer(message, signal),
        onNotification: (message) => this.#notified(message),
        onClosed: (session, closed) => this.#lifecycle.ended(session, closed),
        onWarning: warn,
      },
      ...(authState && { authState }),
    }
  }

  #lifecycleWith(random: (() => number) | undefined): Lifecycle {
    const hooks = {
      onState: (state: ConnectionState) => this.#routes.publish({ type: 'state', state }),
      publish: (started: StartedSession) => this.#publish(started),
      onRenewed: () => {
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
      active: this.#recipe.active,
      rebuilds: true,
      current: () => lifecycle.keeper.current,
      demand: () => lifecycle.demand(),
      renew: (expired) => lifecycle.renewed(expired),
      // The pipes of a process that no longer reads are of no use; an HTTP server may only have lost one exchange.
      giveUp: (session) => (this.server.config.transport.type === 'stdio' ? session.close() : Promise.resolve()),
    }
  }
}
