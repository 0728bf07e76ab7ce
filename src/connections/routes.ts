import { RpcError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { type JsonObject, RPC } from '../protocol/index.js'
import type { ConnectionNews, ConnectionRoute } from './route.js'
import { methodNotFound, type ServerMessage } from './session.js'

/** The holders of one connection. */
export class Routes {
  readonly #key: ServerKey
  readonly #open = new Set<ConnectionRoute>()

  constructor(key: ServerKey) {
    this.#key = key
  }

  /** Returns what takes the holder out again. */
  join(route: ConnectionRoute): () => void {
    this.#open.add(route)
    return () => this.#open.delete(route)
  }

  publish(news: ConnectionNews): void {
    for (const route of [...this.#open]) route.onNews(news)
  }

  /** To all holders; only the one that caused it learns its origin. */
  notify({ method, params, caller }: ServerMessage): void {
    for (const route of [...this.#open]) {
      const origin = caller?.route === route ? caller.origin : undefined
      route.onNews({ type: 'notification', notification: { key: this.#key, method, params, origin } })
    }
  }

  /**
   * What a server asks goes to the holder whose request caused it, else to the only one there is. With several and no
   * sign which one is meant, it is refused: asking the wrong user would be worse (reference: connections, 12).
   */
  async answer({ method, params, caller }: ServerMessage, signal: AbortSignal): Promise<JsonObject> {
    const route = this.#routeFor(caller?.route, method)
    if (route?.onRequest === undefined) throw methodNotFound(method)
    return route.onRequest({ key: this.#key, method, params, origin: caller?.origin }, signal)
  }

  #routeFor(causing: ConnectionRoute | undefined, method: string): ConnectionRoute | undefined {
    if (causing !== undefined) return this.#open.has(causing) ? causing : undefined
    if (this.#open.size <= 1) return this.#open.values().next().value
    throw new RpcError(
      RPC.internalError,
      `${method}: several clients share this connection, and none is known to be meant`,
    )
  }
}
