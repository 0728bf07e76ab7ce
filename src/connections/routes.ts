import { RpcError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { type JsonObject, RPC } from '../protocol/index.js'
import type { Attribution } from './attribution.js'
import type { Caller } from './in-flight.js'
import { LogLevels } from './log-levels.js'
import { MessageOwners } from './message-owners.js'
import type { ConnectionNews, ConnectionRoute } from './route.js'
import { methodNotFound, type ServerMessage } from './session.js'
import { SessionRoots } from './session-roots.js'
import { type SendRequest, Standing } from './standing.js'
import type { Timers } from './timers.js'
import { type Sender, Turns } from './turns.js'

const LOG_MESSAGE = 'notifications/message'
const RESOURCE_UPDATED = 'notifications/resources/updated'
const ROOTS = 'roots/list'

/** The holders of one connection, and which of them each message of the server is for. */
export class Routes {
  readonly turns: Turns
  readonly #key: ServerKey
  readonly #attribution: Attribution
  readonly #open = new Set<ConnectionRoute>()
  readonly #standing = new Standing(this.#open)
  readonly #owners = new MessageOwners()
  readonly #roots = new SessionRoots()
  #starter: ConnectionRoute | undefined

  /** `quiet` resolves when the server has read what it was sent by now. */
  constructor(key: ServerKey, attribution: Attribution, timers: Timers, quiet: () => Promise<void>) {
    this.#key = key
    this.#attribution = attribution
    this.turns = new Turns(
      () => attribution.exclusive || (attribution.logsUnasked && this.#standing.levels.isAsked),
      quiet,
      () => timers.now(),
    )
  }

  get size(): number {
    return this.#open.size
  }

  join(route: ConnectionRoute): void {
    this.#open.add(route)
  }

  leave(route: ConnectionRoute): void {
    this.#open.delete(route)
    this.#owners.left(route)
    this.#roots.left(route)
    this.#standing.left(route)
    if (this.#starter === route) this.#starter = undefined
  }

  /** The level that a holder asked for. */
  logLevelOf(route: ConnectionRoute): string | undefined {
    return this.#standing.levels.of(route)
  }

  /** A request as it takes turns here. `logLevel` is its own; absent, that of its holder. */
  senderOf(route: ConnectionRoute, { logLevel, hearer, origin }: Partial<Sender>): Sender {
    const levelNow = () => (this.logsByTurns ? (logLevel ?? this.logLevelOf(route)) : undefined)
    return {
      route,
      hearer,
      origin,
      // The holder may ask for another one while this waits.
      get logLevel() {
        return levelNow()
      },
    }
  }

  /** Requests are to be sent with the level of log that they have when their turn comes, or with none. */
  get logsByTurns(): boolean {
    return this.#attribution.logsByTurns
  }

  /** Tells the server, which is up, what its holders want together since some came or went. */
  adjust(send: SendRequest): Promise<void> {
    return this.#standing.adjust(send)
  }

  /** Somebody's need starts the server: what it asks before it is up is for them (reference: test behaviours, 196). */
  startedFor(route: ConnectionRoute): void {
    this.#starter = route
  }

  publish(news: ConnectionNews): void {
    if (news.type === 'state' && news.state.state !== 'starting') this.#starter = undefined
    for (const route of [...this.#open]) route.onNews(news)
  }

  /** A holder's request, sent by `send` if there is need. */
  async request(
    route: ConnectionRoute,
    method: string,
    params: JsonObject | undefined,
    send: SendRequest,
    signal?: AbortSignal,
  ): Promise<JsonObject> {
    try {
      const result = await this.#standing.request(route, method, params, send, signal)
      return this.#owners.answered(route, method, result)
    } catch (error) {
      this.#owners.refused(route, error)
      throw error
    }
  }

  /** The requests that set up elsewhere what a holder has here. */
  standingOf(route: ConnectionRoute): readonly (readonly [method: string, params: JsonObject])[] {
    return this.#standing.of(route)
  }

  /** Whether the server may have other roots in mind than this holder's; `haveRootsOf` finds out. */
  isUnsureOfRoots(route: ConnectionRoute): boolean {
    return this.#roots.isUnsure(route)
  }

  haveRootsOf(route: ConnectionRoute, signal: AbortSignal): Promise<boolean> {
    const { onRequest } = route
    if (onRequest === undefined) return Promise.resolve(false)
    const request = { key: this.#key, method: ROOTS, params: undefined, origin: undefined }
    return this.#roots.areOf(route, () => onRequest(request, signal), signal)
  }

  /** A holder's roots changed. False when the server is not to be told: it has the roots of others in mind. */
  rootsChanged(route: ConnectionRoute): boolean {
    return this.#roots.changed(route, this.#open.size <= 1)
  }

  /** To those whom it concerns; only the one that caused it learns its origin. */
  notify(message: ServerMessage): void {
    const caller = this.#speaking(message) ?? message.caller
    for (const route of this.#hearers({ ...message, caller })) {
      const { method, params } = message
      const origin = caller?.route === route ? caller.origin : undefined
      route.onNews({ type: 'notification', notification: { key: this.#key, method, params, origin } })
    }
  }

  /**
   * What a server asks goes to the holder that it concerns. With several and no sign which one is meant, it is refused:
   * asking the wrong user would be worse (reference: connections, 12).
   */
  async answer(message: ServerMessage, signal: AbortSignal): Promise<JsonObject> {
    const { method, params, caller, id: requestId } = message
    const route = this.#asked(message)
    if (route?.onRequest === undefined || !this.#open.has(route)) throw methodNotFound(method)
    this.#owners.asked(route, params)
    const over = this.turns.asking(route)
    try {
      const asked = {
        key: this.#key,
        method,
        params,
        origin: caller?.origin,
        ...(requestId !== undefined && { requestId }),
      }
      const answer = await route.onRequest(asked, signal)
      if (method === ROOTS && !this.#isOnWire(message)) this.#roots.told(route, answer)
      return answer
    } finally {
      over()
    }
  }

  /** The request that a line of the log is for, told by turns: of those of one hearer, one that wants this level. */
  #speaking({ method, params }: ServerMessage): Caller | undefined {
    if (method !== LOG_MESSAGE || this.#attribution.hasStreams) return undefined
    const owner = this.#owners.of(params)
    if (owner !== undefined) return { route: owner, origin: undefined }
    if (!this.#attribution.logsByTurns) return this.turns.only
    const { speaking } = this.turns
    return speaking.find(({ logLevel }) => LogLevels.reaches(params?.level, logLevel)) ?? speaking[0]
  }

  #asked(message: ServerMessage): ConnectionRoute | undefined {
    const known = this.#causing(message) ?? this.#starter
    if (known !== undefined) return known
    this.#attribution.astray(message.method)
    const probable = this.turns.sole ?? (message.method === ROOTS ? this.#roots.speaker : undefined)
    if (probable !== undefined) return probable
    // Holders that share a session have the same roots, or find out before their next request that they have not.
    if (this.#open.size <= 1 || message.method === ROOTS) return this.#open.values().next().value
    throw new RpcError(
      RPC.internalError,
      `${message.method}: several clients share this connection, and none is known to be meant`,
    )
  }

  #hearers(message: ServerMessage): readonly ConnectionRoute[] {
    const { method, params } = message
    const { levels, subscriptions } = this.#standing
    if (method === RESOURCE_UPDATED && typeof params?.uri === 'string') {
      const subscribed = subscriptions.to(params.uri)
      if (subscribed.length > 0) return subscribed
    }
    const causing = this.#causing(message) ?? (this.#attribution.hasStreams ? undefined : this.turns.sole)
    const hearing = causing === undefined ? [...this.#open] : this.#open.has(causing) ? [causing] : []
    // What came for one request has the level that this request asked for.
    if (method === LOG_MESSAGE && message.isCertain !== true) {
      return hearing.filter((route) => levels.hears(route, params?.level))
    }
    return method === RESOURCE_UPDATED && hearing.length > 1 ? [] : hearing
  }

  /** By the response stream, by the thing that the message names, or because nobody else has anything out. */
  #causing(message: ServerMessage): ConnectionRoute | undefined {
    const named = this.#owners.of(message.params)
    return this.#isOnWire(message) ? message.caller?.route : (named ?? message.caller?.route)
  }

  #isOnWire({ caller, isCertain }: ServerMessage): boolean {
    return caller?.route !== undefined && (isCertain === true || this.#attribution.onWire)
  }
}
