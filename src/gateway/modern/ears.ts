import type { FromServer } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import { displayKey, type ServerKey } from '../../identity/index.js'
import { type JsonObject, RPC } from '../../protocol/index.js'
import type { ThreadEvent } from '../../threads/index.js'
import { LiveCall, type WaitingClient } from '../bridge/index.js'
import type { ThreadEars } from '../front.js'
import { reaches } from '../relay/logging.js'
import type { Relay } from '../relay/relay.js'
import { type CallTracker, relatedTask } from '../tasks/index.js'
import type { Conducts } from './conduct.js'
import { PendingCalls } from './pending-calls.js'
import { TaskStream } from './task-stream.js'

export type ChangedList = Extract<ThreadEvent, { type: 'inventory_changed' }>['what']

/** Hears of what no request caused. */
export interface ChangeListener {
  listChanged(what: ChangedList): void
  resourceUpdated(key: ServerKey, params: JsonObject): void
  /** A legacy server said that a task of its own changed. */
  taskChanged(key: ServerKey, id: string): void
}

/**
 * What the servers of one thread say, brought to the request that it belongs to. A modern client can only be told
 * something in answer to one of its requests: what belongs to none of them, and to no subscription, is not told.
 */
export class ModernEars implements ThreadEars {
  readonly calls: PendingCalls
  readonly #listeners = new Set<ChangeListener>()
  readonly #isOneClient: boolean
  #relay: Relay | undefined

  /** `isOneClient`: whichever call hears a line of a log, it is the same client that does. */
  constructor(conducts: Conducts, isOneClient = false) {
    this.calls = new PendingCalls(conducts)
    this.#isOneClient = isOneClient
  }

  attach(relay: Relay): void {
    this.#relay = relay
  }

  /** A call that waits for a task. */
  readonly track: CallTracker = (call, key, taskId) => {
    const leave = this.calls.add(call)
    this.calls.follow(call, key, taskId)
    return leave
  }

  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly onRequest = async (request: FromServer, signal: AbortSignal): Promise<JsonObject> => {
    const { key, method, origin } = request
    if (method !== 'roots/list') this.calls.noteAsking(key, origin instanceof LiveCall)
    const call = await this.#callOf(request, signal)
    const { params } = request
    return call.ask(
      params && this.#relay ? { ...request, params: this.#relay.tasks.told(request, params) } : request,
      signal,
    )
  }

  readonly onEvent = (event: ThreadEvent): void => {
    if (event.type === 'inventory_changed') {
      for (const listener of [...this.#listeners]) listener.listChanged(event.what)
    } else if (event.type === 'notification') this.#notified(event.notification)
  }

  #notified(notification: FromServer): void {
    const { key, method, origin } = notification
    if (origin instanceof TaskStream) {
      origin.heard(method, notification.params ?? {}, this.#relay?.told(notification) ?? {})
      return
    }
    if (method === 'notifications/resources/updated') {
      for (const listener of [...this.#listeners]) listener.resourceUpdated(key, notification.params ?? {})
      return
    }
    const taskId = notification.params?.taskId
    if (method === 'notifications/tasks/status' && typeof taskId === 'string') {
      for (const listener of [...this.#listeners]) listener.taskChanged(key, taskId)
    }
    if (NOT_RELAYED.has(method)) return
    const params = this.#relay?.told(notification)
    if (params === undefined) return
    if (method === LOG_MESSAGE) this.#listenerTo(key, params, origin)?.notify(method, params)
    else if (origin instanceof LiveCall) origin.waiting?.notify(method, params)
  }

  /** Who hears a line of a log: the call that it is of, else any that wants it where all are of one client. */
  #listenerTo(key: ServerKey, params: JsonObject, origin: unknown): WaitingClient | undefined {
    const calls = origin instanceof LiveCall ? [origin] : this.#isOneClient ? this.calls.to(key) : []
    return calls.map(({ waiting }) => waiting).find((waiting) => waiting !== undefined && wants(waiting, params))
  }

  /** The call that a question belongs to: as the wire says, else the only one out to this server that it can be of. */
  async #callOf({ key, method, params, origin }: FromServer, signal: AbortSignal): Promise<LiveCall> {
    const taskId = relatedTask(params)
    const waiting = taskId === undefined ? undefined : this.calls.ofTask(key, taskId)
    if (waiting !== undefined) return waiting
    if (origin instanceof LiveCall) return origin
    const out = this.calls.to(key)
    // Roots are the client's, whichever of its requests they are asked with.
    const call = method === 'roots/list' ? out[0] : await this.calls.lastOf(out, signal, UNTIL_CLEAR_MS)
    if (call !== undefined) return call
    const why = out.length === 0 ? 'none is being made' : 'none of several is known to be meant'
    throw new RpcError(
      RPC.methodNotFound,
      `${method.slice(0, 200)}: the client of ${displayKey(key)} can only be asked during one of its requests, and ${why}`,
    )
  }
}

const LOG_MESSAGE = 'notifications/message'

/** Milliseconds that a question waits for the calls to end that it is not of. */
const UNTIL_CLEAR_MS = 30_000

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
