import type { ConnectionRoute } from './route.js'

/** Milliseconds that a request which was given up counts as under way, for a server that says nothing more. */
const LINGERING = 10_000

const NOBODY: readonly ConnectionRoute[] = Object.freeze([])

/** The right to send one request. */
export interface Turn {
  /**
   * Gives it back; a second time does nothing. `unanswered`: the request was given up, and the server may still be at it.
   */
  done(unanswered?: boolean): void
}

/** A place in the line for a turn. */
export interface Place {
  readonly turn: Promise<Turn>
  /** Gives the place up, or hands the turn back that it has come to already. */
  leave(): void
}

interface Waiting {
  readonly route: ConnectionRoute
  grant(): void
}

/**
 * Whose requests are out on one connection. Where the wire does not say which request a server's message belongs to, the
 * requests of one holder at a time are out, so that every message meanwhile is that holder's (reference: connections, 12).
 * Requests of one holder run beside each other. Who comes while another's are out waits in line, and once somebody waits,
 * so do newcomers of the holder whose turn it is, or the line would never move.
 *
 * A request that was given up keeps its turn until the server has read that it was: what it said before belongs to it.
 */
export class Turns {
  readonly #exclusive: () => boolean
  readonly #quiet: () => Promise<void>
  readonly #now: () => number
  readonly #out = new Map<ConnectionRoute, number>()
  readonly #asked = new Map<ConnectionRoute, number>()
  /** Whose requests were given up, and when, as long as the server was not heard of since. */
  readonly #lingering = new Map<ConnectionRoute, { readonly since: number }>()
  #waiting: Waiting[] = []
  #settling = false

  /**
   * `exclusive` says whether turns are taken now. `quiet` resolves when the server has read what it was sent by now; it
   * is asked for only when somebody waits for that. `now` in milliseconds.
   */
  constructor(exclusive: () => boolean, quiet: () => Promise<void>, now: () => number) {
    this.#exclusive = exclusive
    this.#quiet = quiet
    this.#now = now
  }

  /** The one holder that the server may be at work for; `undefined` when there is none, or more than one. */
  get sole(): ConnectionRoute | undefined {
    const routes = new Set([...this.#out.keys(), ...this.#lingerers()])
    return routes.size === 1 ? routes.values().next().value : undefined
  }

  /** A turn, or `undefined` when the holder has to wait for it. */
  take(route: ConnectionRoute): Turn | undefined {
    return this.#mayGo(route, this.#waiting.length > 0) ? this.#begin(route) : undefined
  }

  /** Stands in line for a turn. */
  queue(route: ConnectionRoute): Place {
    let granted: Turn | undefined
    let grant: (turn: Turn) => void = () => undefined
    const turn = new Promise<Turn>((resolve) => {
      grant = resolve
    })
    const waiting: Waiting = {
      route,
      grant: () => {
        granted = this.#begin(route)
        grant(granted)
      },
    }
    this.#waiting.push(waiting)
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

  /**
   * A holder is being asked something. Its further requests go ahead of the line meanwhile: the answer may depend on
   * them. Returns what ends it.
   */
  asking(route: ConnectionRoute): () => void {
    return counted(this.#asked, route)
  }

  #begin(route: ConnectionRoute): Turn {
    const over = counted(this.#out, route)
    let isOver = false
    return {
      done: (unanswered = false) => {
        if (isOver) return
        isOver = true
        over()
        if (unanswered && this.#exclusive()) this.#lingering.set(route, { since: this.#now() })
        this.#advance()
      },
    }
  }

  #mayGo(route: ConnectionRoute, isLine: boolean): boolean {
    if (!this.#exclusive()) return true
    if (this.#lingerers().some((lingerer) => lingerer !== route)) return false
    const isOut = this.#out.has(route)
    if (this.#out.size > (isOut ? 1 : 0)) return false
    return !isLine || (isOut && this.#asked.has(route))
  }

  #advance(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#mayGo(next.route, false)) break
      this.#waiting.shift()
      next.grant()
    }
    if (this.#waiting.length > 0 && this.#lingering.size > 0 && !this.#settling) void this.#settle()
  }

  async #settle(): Promise<void> {
    const before = [...this.#lingering]
    this.#settling = true
    await this.#quiet()
    this.#settling = false
    for (const [route, given] of before) if (this.#lingering.get(route) === given) this.#lingering.delete(route)
    this.#advance()
  }

  #lingerers(): readonly ConnectionRoute[] {
    if (this.#lingering.size === 0) return NOBODY
    for (const [route, { since }] of this.#lingering) {
      if (this.#now() - since >= LINGERING) this.#lingering.delete(route)
    }
    return [...this.#lingering.keys()]
  }
}

/** Counts one more for a holder. Returns what takes it back, once. */
function counted(counts: Map<ConnectionRoute, number>, route: ConnectionRoute): () => void {
  counts.set(route, (counts.get(route) ?? 0) + 1)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    const left = (counts.get(route) ?? 0) - 1
    if (left > 0) counts.set(route, left)
    else counts.delete(route)
  }
}
