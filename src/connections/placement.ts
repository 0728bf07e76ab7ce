import { ReeveError } from '../errors.js'
import { displayKey } from '../identity/index.js'
import { abortError, orAborted } from './abort.js'
import { Closings } from './closings.js'
import type { HeldCall } from './held-calls.js'
import type { ConnectionNews, ConnectionRoute } from './route.js'
import { type Holding, Seat } from './seat.js'
import { differingParts } from './server-offer.js'
import { LISTING_TIMEOUT } from './startup.js'
import { pause, type Timers } from './timers.js'
import type { Sender, Turn } from './turns.js'

/** Milliseconds that a holder waits for its turn before it gets a server of its own. */
export const DEFAULT_PATIENCE = 250

export interface PlacementOptions {
  readonly holder: ConnectionRoute
  /** The connection that others may have too. */
  readonly shared: Holding
  /** Makes a connection for this holder alone; not started yet. */
  readonly own: () => Holding
  readonly timers: Timers
  readonly patienceMs: number
}

interface AtTurn {
  readonly seat: Seat
  readonly turn: Turn
}

/** A reason that nobody looks at; without one, every end of a wait would make an exception. */
const OVER = 'over'

/** What of a request decides where it goes, and when. */
export interface Asking extends Partial<Omit<Sender, 'route'>> {
  readonly method: string
}

/** The right to send one request on one connection. */
export interface Entered {
  readonly seat: Seat
  /** Absent: it is sent beside the others, and without a log where turns tell whose that is. */
  readonly turn: Turn | undefined
  /** `givenUp`: the request was not answered. */
  over(givenUp: boolean): void
}

/** Sent beside whatever else is going on, and never with a log: servers say nothing because of them. */
const SILENT: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  // What comes of it names it.
  'subscriptions/listen',
])
/** Servers ask nothing because of them. */
const UNASKING: ReadonlySet<string> = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
])
/** Leave nothing on a server that the next request could need. */
const STATELESS: ReadonlySet<string> = new Set([
  ...SILENT,
  ...UNASKING,
  'resources/read',
  'prompts/get',
  'completion/complete',
])

/**
 * Where the requests of one holder go: to a connection that it shares, in turn where turns must be taken, or to one of
 * its own. It gets its own, and stays there, when it would have to wait long and has left nothing behind on the shared
 * one, or when the shared server works with the roots of others. What it does leave behind binds it to a server.
 */
export class Placement {
  readonly #options: PlacementOptions
  readonly #closings: Closings
  #seat: Seat
  #isBound = false
  #mustMove = false
  #moving: Promise<ReeveError | undefined> | undefined
  #coming: Seat | undefined
  #ended = false

  constructor(options: PlacementOptions) {
    this.#options = options
    this.#closings = new Closings((error) => this.#warn(error))
    this.#seat = this.#sit(options.shared)
  }

  /** Where the next request goes, as far as is known now. */
  get seat(): Seat {
    return this.#seat
  }

  /** Waits until a request may be sent. `onWait` is told when that is not at once. */
  async enter(asking: Asking, call: HeldCall, onWait?: () => void): Promise<Entered> {
    await this.#arrive(call)
    if (call.signal.aborted) throw abortError(call.signal)
    const seat = this.#seat
    const sender = senderAt(seat, asking)
    if (isBeside(asking.method, sender)) return entered(seat, undefined)
    const turn = seat.connection.routes.turns.take(sender)
    if (turn === undefined) onWait?.()
    const place = turn === undefined ? await this.#wait(seat, asking, call) : { seat, turn }
    if (!STATELESS.has(asking.method)) this.#isBound = true
    return entered(place.seat, place.turn)
  }

  /** Leaves every connection; resolves when what that closed is gone. */
  async leave(): Promise<void> {
    this.#ended = true
    await Promise.all([this.#seat.leave(), this.#coming?.leave()])
    await this.#closings.all()
  }

  /** At a server that is up, and has no other roots in mind. */
  async #arrive(call: HeldCall): Promise<void> {
    for (;;) {
      const { connection, route } = this.#seat
      if (connection.state.state !== 'ready') await connection.ready(route, call.signal)
      if (!connection.routes.isUnsureOfRoots(route)) return
      if (await orAborted(connection.routes.haveRootsOf(route, call.signal), call.signal)) continue
      this.#mustMove = true
      const failure = await orAborted(this.#moved(), call.signal)
      if (failure !== undefined) throw failure
    }
  }

  /** In line where the holder is, or at a connection of its own, whichever comes first. */
  async #wait(seat: Seat, asking: Asking, call: HeldCall): Promise<AtTurn> {
    const place = seat.connection.routes.turns.queue(senderAt(seat, asking))
    const inLine = place.turn.then((turn) => ({ seat, turn }))
    const waited = new AbortController()
    const elsewhere = this.#elsewhere(seat, asking, call, waited.signal)
    let got: AtTurn | undefined
    try {
      got = await orAborted(Promise.race([inLine, elsewhere]), call.signal)
      return got
    } finally {
      waited.abort(OVER)
      if (got?.seat !== seat) place.leave()
      // A turn that came in the very moment of the other is given back.
      elsewhere.then((late) => late !== got && late.turn.done(), ignore)
    }
  }

  /** A turn at a connection of its own, once the holder's patience is over. Never ends when it has to go on waiting. */
  async #elsewhere(seat: Seat, asking: Asking, call: HeldCall, signal: AbortSignal): Promise<AtTurn> {
    await pause(this.#options.timers, this.#options.patienceMs, signal)
    // Who has a connection alone waits for requests of its own, and would do so anywhere.
    const isAlone = seat.connection.routes.size <= 1
    const failure = this.#isBound || isAlone ? undefined : await this.#moved()
    if (failure !== undefined) this.#warn(failure)
    const own = this.#seat
    if (own === seat || signal.aborted) return new Promise(() => undefined)
    const turn = own.connection.routes.turns.take(senderAt(own, asking))
    return turn === undefined ? this.#wait(own, asking, call) : { seat: own, turn }
  }

  /** Moves to a connection of its own, unless the holder is bound meanwhile. Resolves to why that could not be done. */
  #moved(): Promise<ReeveError | undefined> {
    this.#moving ??= this.#move().finally(() => {
      this.#moving = undefined
    })
    return this.#moving
  }

  async #move(): Promise<ReeveError | undefined> {
    const own = this.#sit(this.#options.own())
    this.#coming = own
    try {
      await own.connection.ready(own.route)
      await this.#setUp(own)
    } catch (error) {
      this.#closings.add(own.leave())
      return error instanceof ReeveError ? error : new ReeveError('internal', String(error))
    } finally {
      this.#coming = undefined
    }
    if (this.#ended || (this.#isBound && !this.#mustMove)) this.#closings.add(own.leave())
    else this.#moveTo(own)
    return undefined
  }

  /** What the holder set up where it was counts where it goes. */
  async #setUp(own: Seat): Promise<void> {
    const { connection, route } = this.#seat
    for (const [method, params] of connection.routes.standingOf(route)) {
      try {
        await own.connection.request(own.route, method, params, { timeoutMs: LISTING_TIMEOUT })
      } catch (error) {
        this.#warn(error)
      }
    }
  }

  #moveTo(own: Seat): void {
    const former = this.#seat
    this.#seat = own
    this.#mustMove = false
    this.#closings.add(former.leaveWhenIdle())
    for (const what of differingParts(former.connection.offer.inventory, own.connection.offer.inventory)) {
      this.#options.holder.onNews({ type: 'inventory', what })
    }
  }

  #sit(holding: Holding): Seat {
    return new Seat(holding, this.#options.holder.onRequest, (seat, news) => this.#hear(seat, news))
  }

  /** A connection that is coming or was left says nothing of itself any more, but its server may. */
  #hear(seat: Seat, news: ConnectionNews): void {
    if (seat === this.#seat || news.type === 'notification') this.#options.holder.onNews(news)
  }

  #warn(error: unknown): void {
    const { key } = this.#options.shared.connection.server
    const reason = error instanceof Error ? error.message : String(error)
    const warning = new ReeveError('own_connection_failed', `MCP server '${displayKey(key)}': ${reason}`, {
      key,
      cause: error,
    })
    this.#options.holder.onNews({ type: 'warning', warning })
  }
}

/** Whatever else is going on, the server says nothing because of it that could be taken for another's. */
function isBeside(method: string, { logLevel }: Sender): boolean {
  return SILENT.has(method) || (UNASKING.has(method) && logLevel === undefined)
}

function senderAt({ connection, route }: Seat, asking: Asking): Sender {
  return connection.routes.senderOf(route, asking)
}

function entered(seat: Seat, turn: Turn | undefined): Entered {
  const idle = seat.working()
  return {
    seat,
    turn,
    over: (givenUp) => {
      idle()
      turn?.done(givenUp)
    },
  }
}

/** The wait was over before. */
function ignore(): void {}
