import type { JsonObject } from '../protocol/index.js'
import { LogLevels } from './log-levels.js'
import type { ConnectionRoute } from './route.js'
import { Subscriptions } from './subscriptions.js'

/** Sends what the server has to be told. */
export type SendStanding = () => Promise<JsonObject>
/** Sends any request to the server. */
export type SendRequest = (method: string, params: JsonObject | undefined) => Promise<JsonObject>

const SET_LEVEL = 'logging/setLevel'
const SUBSCRIBE = 'resources/subscribe'
const UNSUBSCRIBE = 'resources/unsubscribe'

/**
 * What holders set up on a server for as long as they stay: log levels and subscriptions. The server knows one client
 * and is told what serves them all; what it sends finds those who asked for it.
 */
export class Standing {
  readonly levels = new LogLevels()
  readonly subscriptions = new Subscriptions()
  readonly #holders: ReadonlySet<ConnectionRoute>

  /** `holders` are those of now, whenever it is looked at. */
  constructor(holders: ReadonlySet<ConnectionRoute>) {
    this.#holders = holders
  }

  /** A holder's request: sent, unless what it sets up is there already. */
  request(
    route: ConnectionRoute,
    method: string,
    params: JsonObject | undefined,
    send: SendRequest,
    signal?: AbortSignal,
  ): Promise<JsonObject> {
    const { uri, level } = params ?? {}
    const asItCame = () => send(method, params)
    if (method === SUBSCRIBE && typeof uri === 'string') {
      return this.subscriptions.subscribe(route, uri, asItCame, signal)
    }
    if (method === UNSUBSCRIBE && typeof uri === 'string') {
      return this.subscriptions.unsubscribe(route, uri, asItCame, signal)
    }
    if (method === SET_LEVEL && LogLevels.knows(level)) {
      const sendLevel = (merged: string) => send(method, { ...params, level: merged })
      return this.levels.set(route, level, this.#holders, sendLevel, signal)
    }
    return asItCame()
  }

  /** The requests that set up elsewhere what a holder has here. */
  of(route: ConnectionRoute): readonly (readonly [method: string, params: JsonObject])[] {
    const level = this.levels.of(route)
    const subscribed = this.subscriptions.of(route).map((uri) => [SUBSCRIBE, { uri }] as const)
    return [...(level === undefined ? [] : [[SET_LEVEL, { level }] as const]), ...subscribed]
  }

  left(route: ConnectionRoute): void {
    this.levels.left(route)
    this.subscriptions.left(route)
  }

  /** Holders came or went: tells the server what that changed. Rejects with the first refusal. */
  async adjust(send: SendRequest): Promise<void> {
    await Promise.all([
      this.levels.adjust(this.#holders, (level) => send(SET_LEVEL, { level })),
      this.subscriptions.adjust((uri) => send(UNSUBSCRIBE, { uri })),
    ])
  }
}
