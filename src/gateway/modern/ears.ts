import type { FromServer } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import { keyText, type ServerKey, sameKey } from '../../identity/index.js'
import { type JsonObject, RPC } from '../../protocol/index.js'
import type { ThreadEvent } from '../../threads/index.js'
import { LiveCall, type WaitingClient } from '../bridge/index.js'
import type { ThreadEars } from '../front.js'
import { reaches } from '../relay/logging.js'
import type { Relay } from '../relay/relay.js'

export type ChangedList = Extract<ThreadEvent, { type: 'inventory_changed' }>['what']

/** Hears of what no request caused. */
export interface ChangeListener {
  listChanged(what: ChangedList): void
  resourceUpdated(key: ServerKey, params: JsonObject): void
}

/**
 * What the servers of one thread say, brought to the request that it belongs to. A modern client can only be told
 * something in answer to one of its requests: what belongs to none of them, and to no subscription, is not told.
 */
export class ModernEars implements ThreadEars {
  readonly #calls = new Map<LiveCall, ServerKey | undefined>()
  readonly #listeners = new Set<ChangeListener>()
  #relay: Relay | undefined

  attach(relay: Relay): void {
    this.#relay = relay
  }

  /** Returns what takes the call out again. */
  add(call: LiveCall): () => void {
    this.#calls.set(call, undefined)
    return () => this.#calls.delete(call)
  }

  /** A call goes to this server. */
  bind(call: LiveCall, key: ServerKey): void {
    if (this.#calls.has(call)) this.#calls.set(call, key)
  }

  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly onRequest = async (request: FromServer, signal: AbortSignal): Promise<JsonObject> => {
    return this.#callOf(request).ask(request, signal)
  }

  readonly onEvent = (event: ThreadEvent): void => {
    if (event.type === 'inventory_changed') {
      for (const listener of [...this.#listeners]) listener.listChanged(event.what)
    } else if (event.type === 'notification') this.#notified(event.notification)
  }

  #notified(notification: FromServer): void {
    const { key, method, origin } = notification
    if (method === 'notifications/resources/updated') {
      for (const listener of [...this.#listeners]) listener.resourceUpdated(key, notification.params ?? {})
      return
    }
    if (NOT_RELAYED.has(method) || !(origin instanceof LiveCall)) return
    const { waiting } = origin
    const params = this.#relay?.told(notification)
    if (waiting === undefined || params === undefined) return
    if (method !== 'notifications/message' || wants(waiting, params)) waiting.notify(method, params)
  }

  /** The call that a question belongs to: as the wire says, else the only one that is out to this server. */
  #callOf({ key, method, origin }: FromServer): LiveCall {
    if (origin instanceof LiveCall) return origin
    const out = [...this.#calls].filter(([, bound]) => bound !== undefined && sameKey(bound, key)).map(([call]) => call)
    const [only] = out
    // Roots are the client's, whichever of its requests they are asked with.
    if (only !== undefined && (out.length === 1 || method === 'roots/list')) return only
    const why = only === undefined ? 'none is being made' : 'none of several is known to be meant'
    throw new RpcError(
      RPC.methodNotFound,
      `${method.slice(0, 200)}: the client of ${keyText(key)} can only be asked during one of its requests, and ${why}`,
    )
  }
}

function wants({ logLevel }: WaitingClient, { level }: JsonObject): boolean {
  return logLevel !== undefined && reaches(level, logLevel)
}

/** Matched with requests below, told by subscriptions, or gone from the protocol (changelog 2026-07-28, minor 11). */
const NOT_RELAYED: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
  'notifications/progress',
  'notifications/cancelled',
  'notifications/tasks/status',
  'notifications/tasks',
  'notifications/elicitation/complete',
])
