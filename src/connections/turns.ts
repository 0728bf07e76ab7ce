import { orAborted } from './abort.js'
import { Lingering } from './lingering.js'
import type { ConnectionRoute } from './route.js'

/** Who sends a request, and what the server may say because of it. */
export interface Sender {
  readonly route: ConnectionRoute
  /** Who hears the log of this request, where several clients stand behind the holder. Absent: the holder. */
  readonly hearer?: unknown
  /** The least level of log that the server is asked for, where the wire does not say whose a line is. */
  readonly logLevel?: string | undefined
  /** Of the request, as its caller knows it. */
  readonly origin: unknown
}

/** The right to send one request. */
export interface Turn {
  /** As it was when the turn came. */
  readonly sender: Sender
  /**
   * Gives it back; a second time does nothing. `unanswered`: the request was given up, and the server may still be at it.
   */
  done(unanswered?: boolean): void
  /** Lets others go while the server has nothing of this request, and waits for its turn again afterwards. */
  rest<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** A place in the line for a turn. */
export interface Place {
  readonly turn: Promise<Turn>
  /** Gives the place up, or hands the turn back that it has come to already. */
  leave(): void
}

interface Waiting {
  readonly sender: Sender
  grant(): void
}

/**
 * Whose requests are out on one connection. Where the wire does not say which request a server's message belongs to, the
 * requests of one holder at a time are out, so that every message meanwhile is that holder's (reference: connections, 12).
 * Requests of one holder run beside each other. Who comes while another's are out waits in line, and once somebody waits,
 * so do newcomers of the holder whose turn it is, or the line would never move.
 *
 * Where log messages alone are not told apart, this holds while a request is out or waits that asked for a log, and for
 * each hearer of logs.
 *
 * A request that was given up keeps its turn until the server has read that it was: what it said before belongs to it.
 */
export class Turns {
  readonly #exclusive: () => boolean
  readonly #out = new Set<Sender>()
  readonly #asked = new Map<ConnectionRoute, number>()
  readonly #lingering: Lingering
  #logged = 0
  #lastLogged: Sender | undefined
  #waiting: Waiting[] = []

  /**
   * `exclusive` says whether all requests take turns now. `quiet` resolves when the server has read what it was sent by
   * now; it is asked for only when somebody waits for that. `now` in milliseconds.
   */
  constructor(exclusive: () => boolean, quiet: () => Promise<void>, now: () => number) {
    this.#exclusive = exclusive
    this.#lingering = new Lingering(quiet, now)
  }

  /** The one holder that the server may be at work for; `undefined` when there is none, or more than one. */
  get sole(): ConnectionRoute | undefined {
    const routes = new Set(this.#atWork().map(({ route }) => route))
    return routes.size === 1 ? routes.values().next().value : undefined
  }

  /**
   * The requests of the one hearer that a line of the log can be for, newest first: of those that are out, else the last
   * one that asked for a log. Empty when there is none, or more than one hearer.
   */
  get speaking(): readonly Sender[] {
    const atWork = this.#atWork()
    if (atWork.length === 0) return this.#lastLogged === undefined ? [] : [this.#lastLogged]
    const asked = atWork.filter(({ logLevel }) => logLevel !== undefined)
    const speaking = asked.length > 0 ? asked : atWork
    return new Set(speaking.map(hearerOf)).size === 1 ? speaking.reverse() : []
  }

  /** The one request that the server may be at work for; `undefined` when there is none, or more than one. */
  get only(): Sender | undefined {
    const [only, ...others] = this.#atWork()
    return others.length === 0 ? only : undefined
  }

  /** A turn, or `undefined` when the sender has to wait for it. */
  take(sender: Sender): Turn | undefined {
    return this.#mayGo(sender, this.#waiting.length > 0) ? this.#grant(sender) : undefined
  }

  /** Stands in line for a turn. */
  queue(sender: Sender): Place {
    return this.#stand(sender, (waiting) => this.#waiting.push(waiting))
  }

  /**
   * A holder is being asked something. Its further requests go ahead of the line meanwhile: the answer may depend on
   * them. Returns what ends it.
   */
  asking(route: ConnectionRoute): () => void {
    this.#asked.set(route, (this.#asked.get(route) ?? 0) + 1)
    return once(() => {
      const left = (this.#asked.get(route) ?? 0) - 1
      if (left > 0) this.#asked.set(route, left)
      else this.#asked.delete(route)
    })
  }

  #stand(sender: Sender, enter: (waiting: Waiting) => void): Place {
    let granted: Turn | undefined
    let grant: (turn: Turn) => void = () => undefined
    const turn = new Promise<Turn>((resolve) => {
      grant = resolve
    })
    const waiting: Waiting = {
      sender,
      grant: () => {
        granted = this.#grant(sender)
        grant(granted)
      },
    }
    enter(waiting)
    this.#advance()
    return {
      turn,
      leave: () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        if (granted !== undefined) granted.done()
        else this.#advance()
      },
    }
  }

  #grant(given: Sender): Turn {
    // One sender may have several requests out.
    const sender = { ...given }
    // One that has rested stands first in line: its request has begun.
    const again = () => this.#stand(sender, (waiting) => this.#waiting.unshift(waiting))
    return new Granted(sender, this.#begin(sender), again)
  }

  /** Returns what gives the turn back. */
  #begin(sender: Sender): (unanswered: boolean) => void {
    this.#out.add(sender)
    if (sender.logLevel !== undefined) this.#logged += 1
    return (unanswered) => {
      this.#out.delete(sender)
      if (sender.logLevel !== undefined) {
        this.#logged -= 1
        this.#lastLogged = sender
      }
      if (unanswered && (this.#exclusive() || sender.logLevel !== undefined)) this.#lingering.add(sender)
      this.#advance()
    }
  }

  #mayGo(sender: Sender, isLine: boolean): boolean {
    const isExclusive = this.#exclusive()
    const lingering = this.#lingering.all()
    if (!isExclusive && sender.logLevel === undefined && this.#logged === 0 && lingering.length === 0) {
      return !isLine
    }
    const partyOf = isExclusive ? routeOf : hearerOf
    const own = partyOf(sender)
    const isOwn = (other: Sender) => partyOf(other) === own
    if (!lingering.every(isOwn)) return false
    const out = [...this.#out]
    if (!out.every(isOwn)) return false
    return !isLine || (out.length > 0 && this.#asked.has(sender.route))
  }

  #advance(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#mayGo(next.sender, false)) break
      this.#waiting.shift()
      next.grant()
    }
    if (this.#waiting.length > 0) this.#lingering.settle(() => this.#advance())
  }

  #atWork(): Sender[] {
    return [...this.#lingering.all(), ...this.#out]
  }
}

class Granted implements Turn {
  readonly sender: Sender
  readonly #again: () => Place
  #giveBack: ((unanswered: boolean) => void) | undefined

  constructor(sender: Sender, giveBack: (unanswered: boolean) => void, again: () => Place) {
    this.sender = sender
    this.#giveBack = giveBack
    this.#again = again
  }

  done(unanswered = false): void {
    const giveBack = this.#giveBack
    this.#giveBack = undefined
    giveBack?.(unanswered)
  }

  async rest<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.done()
    const result = await work()
    const place = this.#again()
    try {
      const turn = await orAborted(place.turn, signal)
      this.#giveBack = (unanswered) => turn.done(unanswered)
    } catch (error) {
      place.leave()
      throw error
    }
    return result
  }
}

function routeOf({ route }: Sender): unknown {
  return route
}

function hearerOf({ route, hearer }: Sender): unknown {
  return hearer ?? route
}

function once(act: () => void): () => void {
  let isOver = false
  return () => {
    if (!isOver) act()
    isOver = true
  }
}
