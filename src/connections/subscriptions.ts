import type { JsonObject } from '../protocol/index.js'
import { InTurn } from './in-turn.js'
import type { ConnectionRoute } from './route.js'
import type { SendStanding } from './standing.js'

interface Subscribed {
  readonly holders: Set<ConnectionRoute>
  /** A server that answers in another order than it was asked must not end up with the older wish. */
  readonly line: InTurn
}

/** Which holders subscribed to which resources of one server: it is asked once, and told when the last one is gone. */
export class Subscriptions {
  readonly #byUri = new Map<string, Subscribed>()

  /** What a holder subscribed to. */
  of(route: ConnectionRoute): readonly string[] {
    return [...this.#byUri].filter(([, { holders }]) => holders.has(route)).map(([uri]) => uri)
  }

  /** Who hears of a change: an update may also name a part of what was subscribed to (specification, resources). */
  to(uri: string): readonly ConnectionRoute[] {
    const hearing = [...this.#byUri].filter(([subscribed]) => uri === subscribed || isPart(uri, subscribed))
    return [...new Set(hearing.flatMap(([, { holders }]) => [...holders]))]
  }

  subscribe(route: ConnectionRoute, uri: string, send: SendStanding, signal?: AbortSignal): Promise<JsonObject> {
    const subscribed = this.#byUri.get(uri) ?? { holders: new Set(), line: new InTurn() }
    this.#byUri.set(uri, subscribed)
    const { holders, line } = subscribed
    return line.run(async () => {
      const isNew = !holders.has(route)
      // Before the answer: a first update can come earlier.
      holders.add(route)
      try {
        return isNew && holders.size > 1 ? {} : await send()
      } catch (error) {
        if (isNew) this.#remove(uri, route)
        throw error
      }
    }, signal)
  }

  async unsubscribe(
    route: ConnectionRoute,
    uri: string,
    send: SendStanding,
    signal?: AbortSignal,
  ): Promise<JsonObject> {
    const subscribed = this.#byUri.get(uri)
    if (subscribed === undefined) return send()
    const { holders, line } = subscribed
    return line.run(async () => {
      const others = [...holders].some((holder) => holder !== route)
      const answer = others ? {} : await send()
      this.#remove(uri, route)
      return answer
    }, signal)
  }

  left(route: ConnectionRoute): void {
    for (const { holders } of this.#byUri.values()) holders.delete(route)
  }

  /** Tells the server of what nobody wants any more. */
  async adjust(send: (uri: string) => Promise<JsonObject>): Promise<void> {
    const unwanted = [...this.#byUri].filter(([, { holders }]) => holders.size === 0)
    await Promise.all(unwanted.map(([uri, subscribed]) => subscribed.line.run(() => this.#giveUp(uri, send))))
  }

  async #giveUp(uri: string, send: (uri: string) => Promise<JsonObject>): Promise<void> {
    if (this.#byUri.get(uri)?.holders.size !== 0) return
    await send(uri)
    this.#forgetUnwanted(uri)
  }

  #remove(uri: string, route: ConnectionRoute): void {
    this.#byUri.get(uri)?.holders.delete(route)
    this.#forgetUnwanted(uri)
  }

  #forgetUnwanted(uri: string): void {
    if (this.#byUri.get(uri)?.holders.size === 0) this.#byUri.delete(uri)
  }
}

/** `file:///notes/a` is a part of `file:///notes` and of `file:///notes/`, but not of `file:///no`. */
function isPart(uri: string, whole: string): boolean {
  return uri.startsWith(whole) && (/[/?#]$/.test(whole) || /^[/?#]/.test(uri.slice(whole.length)))
}
