import type { Connection } from './connection.js'
import type { ConnectionRoute } from './route.js'
import type { ReadyClient } from './types.js'

/** How a connection ends when the last lease on it goes: after the work under way, or at once. */
export type Ending = 'drained' | 'now'

/**
 * One holder's part in a connection. Successive sets of a holder share it, so that a question that a server asks in the
 * middle of an older call still finds who asked.
 */
export class Lease {
  readonly connection: Connection
  readonly route: ConnectionRoute
  readonly #end: (how: Ending) => Promise<void>
  readonly #leave: () => void
  #uses = 1

  constructor(connection: Connection, route: ConnectionRoute, end: (how: Ending) => Promise<void>) {
    this.connection = connection
    this.route = route
    this.#end = end
    this.#leave = connection.join(route)
  }

  /** One more use of the same lease. */
  share(): this {
    this.#uses += 1
    return this
  }

  /** The last use ends the lease. Resolves when what that closed is gone. */
  async release(how: Ending): Promise<void> {
    this.#uses -= 1
    if (this.#uses !== 0) return
    await this.#end(how)
    this.#leave()
  }

  /** The client while the server is up. */
  get client(): ReadyClient | undefined {
    const { state } = this.connection
    return state.state === 'ready' ? this.connection.client(this.route, state.handshake) : undefined
  }

  /** The client, once the server is up; starts it if need be. See `Connection.ready`. */
  ready(signal?: AbortSignal): Promise<ReadyClient> {
    return this.connection.ready(this.route, signal)
  }
}
