import type { ConnectionRoute } from './route.js'

/** The right to send one request. Given back once; a second time does nothing. */
export interface Turn {
  done(): void
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
 * Requests of one holder run beside each other. Who comes while another holder's are out waits in line, and once
 * somebody waits, so do newcomers of the holder whose turn it is, or the line would never move.
 */
export class Turns {
  readonly #exclusive: () => boolean
  readonly #out = new Map<ConnectionRoute, number>()
  readonly #asked = new Map<ConnectionRoute, number>()
  #waiting: Waiting[] = []

  /** `exclusive` says whether holders take turns now. */
  constructor(exclusive: () => boolean) {
    this.#exclusive = exclusive
  }

  /** The one holder whose requests are out; `undefined` when there is none, or more than one. */
  get sole(): ConnectionRoute | undefined {
    return this.#out.size === 1 ? this.#out.keys().next().value : undefined
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
    return {
      done: () => {
        over()
        this.#advance()
      },
    }
  }

  #mayGo(route: ConnectionRoute, othersWait: boolean): boolean {
    if (!this.#exclusive()) return true
    if (this.#out.size > (this.#out.has(route) ? 1 : 0)) return false
    return !othersWait || (this.#out.has(route) && this.#asked.has(route))
  }

  #advance(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#mayGo(next.route, false); next = this.#waiting[0]) {
      this.#waiting.shift()
      next.grant()
    }
  }
}

function counted(counts: Map<ConnectionRoute, number>, route: ConnectionRoute): () => void {
  counts.set(route, (counts.get(route) ?? 0) + 1)
  let over = false
  return () => {
    if (over) return
    over = true
    const left = (counts.get(route) ?? 0) - 1
    if (left > 0) counts.set(route, left)
    else counts.delete(route)
  }
}
