import type { JsonObject } from '../protocol/index.js'
import { canonicalJson } from './canonical.js'
import type { ConnectionRoute } from './route.js'

/** Asks a holder's client for its roots. */
export type AskRoots = () => Promise<JsonObject>

/**
 * The roots that a server was told beside any call. It keeps them for its whole session, so only holders with the very
 * same roots may share that session.
 */
export class SessionRoots {
  #told: string | undefined
  #alike = new Set<ConnectionRoute>()
  #changing: ConnectionRoute | undefined

  /** Who answers for all when the server asks again: whoever said that its roots changed, else one with those known. */
  get speaker(): ConnectionRoute | undefined {
    return this.#changing ?? this.#alike.values().next().value
  }

  /** True when the server could have other roots in mind than this holder's. */
  isUnsure(route: ConnectionRoute): boolean {
    return this.#told !== undefined && !this.#alike.has(route)
  }

  told(route: ConnectionRoute, answer: JsonObject): void {
    const roots = canonicalJson(answer.roots)
    if (roots !== this.#told) this.#alike = new Set()
    this.#told = roots
    this.#alike.add(route)
    this.#changing = undefined
  }

  /** Whether a holder's roots are those that the server knows. A holder that can't say has others. */
  async areOf(route: ConnectionRoute, ask: AskRoots, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const known = this.#told
      const answer = await ask().catch(() => undefined)
      signal.throwIfAborted()
      // The server may have been told anew while the client answered.
      if (known !== this.#told) continue
      if (answer === undefined || canonicalJson(answer.roots) !== known) return false
      this.#alike.add(route)
      return true
    }
  }

  /**
   * A holder's roots changed; `alone` says that no other shares the session. False when the server is not to be told,
   * since it has the roots of others in mind.
   */
  changed(route: ConnectionRoute, alone: boolean): boolean {
    if (!alone && this.#told !== undefined) {
      this.#alike.delete(route)
      return false
    }
    this.#changing = route
    return true
  }

  left(route: ConnectionRoute): void {
    this.#alike.delete(route)
    if (this.#changing === route) this.#changing = undefined
  }
}
