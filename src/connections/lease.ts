import type { JsonObject } from '../protocol/index.js'
import { Activity } from './activity.js'
import type { Connection } from './connection.js'
import { type CallLimits, HeldCalls } from './held-calls.js'
import { type Asking, Placement, type PlacementOptions } from './placement.js'
import { type Relay, readyClient } from './ready-client.js'
import type { ConnectionRoute } from './route.js'
import type { Seat } from './seat.js'
import type { Standstill } from './standstill.js'
import { atMost, type Timers } from './timers.js'
import type { ReadyClient, RequestOptions } from './types.js'

/** How a holder's part in a connection ends: after its work under way, or at once. */
export type Ending = 'drained' | 'now'

/** Milliseconds that the work of a holder may still take once it has no lease any more (reference: connections, 12). */
const RETIREMENT = 10_000

export interface LeaseOptions extends PlacementOptions {
  /** Whose calls stand still together. Absent: those of this lease by themselves. */
  readonly standstill?: Standstill
}

/** Where one request is sent. */
export interface WorkPlace {
  readonly seat: Seat
  /** Ends it: of the caller, of its time, or of the lease. */
  readonly signal: AbortSignal
  /** With this level of log, or with none when it is there and undefined. */
  readonly logLevel?: string | undefined
  /** Lets the requests of others go while the server waits for this side. */
  rest<T>(work: () => Promise<T>): Promise<T>
}

const ROOTS_CHANGED = 'notifications/roots/list_changed'

/**
 * One holder's part in a connection. Successive sets of a holder share it, so that a question that a server asks in the
 * middle of an older call still finds who asked. What happens to one lease is no other's business: the end of a lease
 * ends its own requests and no more.
 */
export class Lease {
  readonly route: ConnectionRoute
  readonly #timers: Timers
  readonly #calls: HeldCalls
  readonly #placement: Placement
  readonly #activity = new Activity()
  readonly #relay: Relay
  #uses = 1

  constructor(options: LeaseOptions) {
    const { holder, shared, timers, standstill } = options
    this.route = holder
    this.#timers = timers
    this.#calls = new HeldCalls(shared.connection.server.key, standstill)
    this.#placement = new Placement({ ...options, holder: this.#answering(holder) })
    this.#relay = {
      request: (method, params, requestOptions) => this.request(method, params, requestOptions),
      notify: (method, params) => this.notify(method, params),
    }
  }

  /** The connection that serves the holder now. */
  get connection(): Connection {
    return this.#placement.seat.connection
  }

  /** One more use of the same lease. */
  share(): this {
    this.#uses += 1
    return this
  }

  /** Starts the server unless it is up or starting. */
  start(): void {
    const { connection, route } = this.#placement.seat
    connection.start(route)
  }

  /** The last use ends the lease. Resolves when what that closed is gone. */
  async release(how: Ending): Promise<void> {
    this.#uses -= 1
    if (this.#uses !== 0) return
    // Whoever wants the server again while its last work is finished gets another one.
    this.#placement.seat.retire()
    const { state } = this.connection.state
    if (how === 'drained' && state === 'ready') await atMost(this.#timers, RETIREMENT, this.#activity.idle())
    this.#calls.end()
    await this.#placement.leave()
  }

  /** The client while the server is up. */
  get client(): ReadyClient | undefined {
    const { state } = this.connection
    return state.state === 'ready' ? readyClient(state.handshake, this.#relay) : undefined
  }

  /** The client, once the server is up; starts it if need be. Throws as `Connection.ready`. */
  async ready(signal?: AbortSignal): Promise<ReadyClient> {
    const call = this.#calls.begin('initialize', { signal })
    const { connection, route } = this.#placement.seat
    try {
      return readyClient(await connection.ready(route, call.signal), this.#relay)
    } catch (error) {
      throw call.ended ?? error
    } finally {
      call.over()
    }
  }

  /** Counts as work until the returned function is called: a lease that is drained waits for it. */
  hold(): () => void {
    return this.#activity.begin()
  }

  /** Ends a startup that nobody else waits for. */
  cancelStartup(): void {
    if (this.connection.routes.size <= 1) this.connection.cancelStartup()
  }

  /**
   * Sends one request by `work` when it may be sent, to the place where it may. `onWait` is told when it has to wait
   * first.
   */
  async run<T>(
    asking: Asking,
    limits: CallLimits,
    work: (place: WorkPlace) => Promise<T>,
    onWait?: () => void,
  ): Promise<T> {
    const idle = this.#activity.begin()
    const call = this.#calls.begin(asking.method, limits)
    let end: ((givenUp: boolean) => void) | undefined
    try {
      const { seat, turn, over } = await this.#placement.enter(asking, call, onWait)
      const { signal } = call
      end = over
      call.isOut = true
      return await work({
        seat,
        signal,
        rest: (resting) => turn?.rest(resting, signal) ?? resting(),
        ...(seat.connection.routes.logsByTurns && { logLevel: turn?.sender.logLevel }),
      })
    } catch (error) {
      throw call.ended ?? error
    } finally {
      end?.(call.signal.aborted)
      call.over()
      idle()
    }
  }

  /** Raw relay with one recovery; see `Connection.request`. */
  request(
    method: string,
    params: JsonObject | undefined,
    { signal, timeoutMs, ...options }: RequestOptions = {},
  ): Promise<JsonObject> {
    const asking = { ...options, method }
    return this.run(asking, { signal, timeoutMs }, ({ seat: { connection, route }, ...place }) =>
      connection.request(route, method, params, { ...options, ...place }),
    )
  }

  async notify(method: string, params: JsonObject | undefined): Promise<void> {
    const { connection, route } = this.#placement.seat
    if (method === ROOTS_CHANGED && !connection.routes.rootsChanged(route)) return
    await connection.notify(method, params)
  }

  /** The holder, whose calls get no older while it answers. */
  #answering(holder: ConnectionRoute): ConnectionRoute {
    const { onRequest } = holder
    return {
      onNews: (news) => holder.onNews(news),
      onRequest: onRequest && ((request, signal) => this.#calls.answering(() => onRequest(request, signal))),
    }
  }
}
