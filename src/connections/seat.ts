import { Activity } from './activity.js'
import type { Connection } from './connection.js'
import type { ConnectionNews, ConnectionRoute } from './route.js'

/** A use of a connection, counted by whoever owns the connection. */
export interface Holding {
  readonly connection: Connection
  /** Gives it back and takes the route out; the last one ends or parks the connection. Resolves when that is done. */
  release(route: ConnectionRoute): Promise<void>
  /** Nobody new comes to a connection that its only holder is about to give back. */
  retire(): void
}

/** One holder's place at one connection. */
export class Seat {
  readonly connection: Connection
  /** The holder as this connection knows it. */
  readonly route: ConnectionRoute
  readonly #holding: Holding
  readonly #activity = new Activity()
  #left: Promise<void> | undefined

  constructor(
    holding: Holding,
    onRequest: ConnectionRoute['onRequest'],
    onNews: (seat: Seat, news: ConnectionNews) => void,
  ) {
    this.connection = holding.connection
    this.#holding = holding
    this.route = { onRequest, onNews: (news) => onNews(this, news) }
    this.connection.join(this.route)
  }

  /** Counts as work here until the returned function is called. */
  working(): () => void {
    return this.#activity.begin()
  }

  retire(): void {
    this.#holding.retire()
  }

  leave(): Promise<void> {
    this.#left ??= this.#holding.release(this.route)
    return this.#left
  }

  async leaveWhenIdle(): Promise<void> {
    await this.#activity.idle()
    await this.leave()
  }
}
