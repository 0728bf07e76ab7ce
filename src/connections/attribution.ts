import type { Era, JsonObject } from '../protocol/index.js'

/** What a client lets servers ask it in the middle of a call (specification 2025-11-25, client features). */
const ASKABLE = ['roots', 'sampling', 'elicitation'] as const
/** Questions that only a call can cause. (A server may ask for roots whenever it likes.) */
const CAUSED_BY_CALLS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage'])

/** What is known of a connection before it is up. */
export interface AttributionFacts {
  readonly transport: 'stdio' | 'streamable_http' | 'sse'
  readonly clientCapabilities: JsonObject
}

/** Whether one connection's server can say whose call a message of its own belongs to, and what follows when it can't. */
export class Attribution {
  readonly #askable: boolean
  #hasStreams: boolean
  #legacy = true

  constructor({ transport, clientCapabilities }: AttributionFacts) {
    this.#askable = ASKABLE.some((capability) => Object.hasOwn(clientCapabilities, capability))
    this.#hasStreams = transport === 'streamable_http'
  }

  /** Questions come in on the response stream of the request that caused them, or in its result. */
  get onWire(): boolean {
    return this.#hasStreams || !this.#legacy
  }

  /** Everything that a request causes comes in on its own stream. */
  get hasStreams(): boolean {
    return this.#hasStreams
  }

  /**
   * All requests have to take turns: a question could be taken for another's. Servers of the modern era ask in their
   * results.
   */
  get exclusive(): boolean {
    return this.#askable && !this.onWire
  }

  /**
   * A line of the log does not say which request it belongs to: those that asked for one are told apart by turns. A
   * server of the modern era logs for requests alone, and only for those that asked (specification 2026-07-28, logging).
   */
  get logsByTurns(): boolean {
    return !this.#hasStreams && !this.#legacy
  }

  /**
   * A line of the log does not say which request it belongs to, and any request can cause some, whether it asked or not:
   * where holders want different ones, all requests take turns.
   */
  get logsUnasked(): boolean {
    return !this.#hasStreams && this.#legacy
  }

  agreed(era: Era): void {
    this.#legacy = era === 'legacy'
  }

  /** A question came in that no response stream carried: whatever the transport could do, this server does not. */
  astray(method: string): void {
    if (CAUSED_BY_CALLS.has(method)) this.#hasStreams = false
  }
}
