import { ProtocolViolationError, ReeveError, RpcError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import {
  type Era,
  type InboundRequest,
  type JsonObject,
  MODERN_REVISION,
  Peer,
  type ReceivedOn,
  type RequestId,
  RPC,
  type Transport,
  type TransportClosed,
} from '../protocol/index.js'
import type { ActiveTime } from './active-time.js'
import { Activity } from './activity.js'
import { type Agreement, type AgreeOptions, agree } from './eras/agree.js'
import type { Dialect, ExchangeOptions, OwnFields, SessionRequestOptions } from './eras/dialect.js'
import { LegacyDialect } from './eras/legacy.js'
import { subscriptionOf } from './eras/listener.js'
import { ModernDialect } from './eras/modern.js'
import { withKey } from './error-key.js'
import { type Caller, InFlight } from './in-flight.js'
import type { InventoryPart } from './inventory-listing.js'
import { type Handshake, negotiate } from './negotiate.js'
import type { SessionMemory } from './session-memory.js'
import type { Timers } from './timers.js'
import type { ClientProfile } from './types.js'

/** A message that a server sent of its own accord. */
export interface ServerMessage {
  readonly method: string
  readonly params: JsonObject | undefined
  readonly caller: Caller | undefined
  /** It came in that caller's own result, or on the stream of its modern request. */
  readonly isCertain?: boolean
  /** Of a request. */
  readonly id?: RequestId
}

export interface SessionHandlers {
  onRequest(message: ServerMessage, signal: AbortSignal): Promise<JsonObject>
  onNotification(message: ServerMessage): void
  /** The server can't have told whether these listings changed. */
  onMissed(lists: ReadonlySet<InventoryPart>): void
  onClosed(session: Session, closed: TransportClosed): void
  onWarning(warning: Error): void
}

export interface SessionOptions {
  readonly key: ServerKey
  readonly profile: ClientProfile
  readonly transport: Transport
  /** Whether each exchange has a stream of its own (HTTP), or all share one (stdio). */
  readonly streams: 'own' | 'shared'
  readonly active: ActiveTime
  readonly timers: Timers
  readonly handlers: SessionHandlers
  readonly memory: SessionMemory
  /** The live definition of a tool. */
  readonly tool: (name: string) => JsonObject | undefined
  /** The server no longer speaks the revision that was agreed. */
  readonly onRevisionRefused: () => void
}

/** Milliseconds of a request that sets up again what callers had set up. */
const RESTORE_TIMEOUT = 30_000

/** One transport, from its first byte to its last, and the era agreed on it. It never comes back once it ended. */
export class Session {
  readonly #options: SessionOptions
  readonly #peer: Peer
  readonly #inFlight: InFlight
  readonly #activity = new Activity()
  readonly #modern: ModernDialect
  #dialect: Dialect
  #ended = false

  constructor(options: SessionOptions) {
    const { transport, streams, handlers } = options
    this.#options = options
    this.#modern = new ModernDialect(this, {
      ...options,
      mirrors: streams === 'own',
      onMissed: (lists) => handlers.onMissed(lists),
      warn: (error) => handlers.onWarning(error instanceof Error ? error : new Error(String(error))),
    })
    this.#inFlight = new InFlight(streams === 'own' ? 'stream' : 'sole')
    this.#dialect = new LegacyDialect(this, () => this.#restoreLegacy())
    this.#peer = new Peer(transport, {
      onRequest: (method, params, context) => this.#answer(method, params, context),
      onNotification: (method, params, on) => this.#notified(method, params, on),
      onClose: (closed) => {
        this.#ended = true
        this.#modern.end()
        handlers.onClosed(this, closed)
      },
      onWarning: (warning) => handlers.onWarning(warning),
    })
  }

  get ended(): boolean {
    return this.#ended
  }

  get era(): Era {
    return this.#dialect.era
  }

  /** Resolves when no request is out. */
  drained(): Promise<void> {
    return this.#activity.idle()
  }

  /** From the transport's start to an agreement; see `agree`. */
  async begin(options: Omit<AgreeOptions, 'key'>): Promise<Agreement> {
    const { key, profile } = this.#options
    await this.#peer.start()
    const agreement = await agree(
      {
        isEnded: () => this.#ended,
        initialize: (signal) => this.#initialize(signal),
        discover: (signal) =>
          this.#modern.ask('server/discover', profile.further, { signal, tellsCancellation: false }),
        listEarly: (signal) => this.#modern.ask('tools/list', {}, { signal, tellsCancellation: false }),
      },
      { key, ...options },
    )
    const { era, capabilities } = agreement.handshake
    if (era === 'modern') {
      this.#dialect = this.#modern
      this.#modern.begin(capabilities)
    }
    return agreement
  }

  /** `caller` absent: a request of our own, which nothing is attributed to. */
  request(
    method: string,
    params: JsonObject | undefined,
    options: SessionRequestOptions,
    caller?: Caller,
  ): Promise<JsonObject> {
    return this.#dialect.request(method, params, options, caller)
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#dialect.notify(method, params)
  }

  /** What a caller set up, by a request that was carried out, changed. */
  noted(): void {
    this.#dialect.noted()
  }

  /** Sets up again what callers had set up on an earlier session. Never rejects. */
  restore(): Promise<void> {
    return this.#dialect.restore()
  }

  /** Whether the server would say now that this part of its offer changed. */
  announces(part: InventoryPart): boolean {
    return this.#dialect.announces(part)
  }

  /** Never rejects: what goes wrong is a warning. */
  async close(): Promise<void> {
    this.#modern.end()
    try {
      await this.#peer.close()
    } catch (error) {
      this.#options.handlers.onWarning(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** One request as it is, for the dialects. */
  async exchange(
    method: string,
    params: JsonObject | undefined,
    options: ExchangeOptions,
    caller?: Caller,
  ): Promise<JsonObject> {
    const { signal, timeoutMs, onProgress, headers, tellsCancellation, mayBeEnded } = options
    const over = options.aside === true ? () => {} : this.#activity.begin()
    let id: RequestId | undefined
    const onId = (given: RequestId) => {
      id = given
      if (caller !== undefined) this.#inFlight.add(given, caller, options.aside)
      options.onId?.(given)
    }
    try {
      return await this.#peer.request(method, params, {
        onId,
        ...(signal && { signal }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(onProgress && { onProgress }),
        ...(headers && { headers }),
        ...(tellsCancellation !== undefined && { tellsCancellation }),
        ...(mayBeEnded !== undefined && { mayBeEnded }),
      })
    } catch (error) {
      throw withKey(error, this.#options.key, method, timeoutMs)
    } finally {
      if (id !== undefined) this.#inFlight.delete(id)
      over()
    }
  }

  /** One notification as it is, for the dialects. */
  tell(method: string, params: JsonObject | undefined, headers?: OwnFields): Promise<void> {
    return this.#peer.notify(method, params, headers && { headers })
  }

  async #initialize(signal: AbortSignal): Promise<Handshake> {
    const { key, profile, transport } = this.#options
    const send = (method: string, params: JsonObject) => this.#peer.request(method, params, { signal })
    const handshake = await negotiate(send, key, profile)
    transport.protocolVersion?.(handshake.protocolVersion)
    await this.#peer.notify('notifications/initialized', undefined, { signal })
    return handshake
  }

  #restoreLegacy(): Promise<void> {
    const { memory, handlers } = this.#options
    return memory.restore(
      (method, params) => this.exchange(method, params, { timeoutMs: RESTORE_TIMEOUT }),
      (method, error) => {
        const why = error instanceof Error ? error.message : String(error)
        handlers.onWarning(new ReeveError('session_not_restored', `${method} refused: ${why}`))
      },
    )
  }

  #notified(method: string, params: JsonObject | undefined, on: ReceivedOn): void {
    const message = this.#dialect.heard(this.#attribute(method, params, on), on)
    if (message !== undefined) this.#options.handlers.onNotification(message)
  }

  async #answer(
    method: string,
    params: JsonObject | undefined,
    context: InboundRequest,
  ): Promise<JsonObject | undefined> {
    const { handlers, active } = this.#options
    if (!this.#dialect.answersRequests) {
      handlers.onWarning(
        new ProtocolViolationError(`it asked ${method} by a request, which ${MODERN_REVISION} forbids`),
      )
      return undefined
    }
    if (method === 'ping') return {}
    active.pause()
    try {
      const message = this.#attribute(method, params, context)
      return await handlers.onRequest({ ...message, id: context.id }, context.signal)
    } finally {
      active.resume()
    }
  }

  #attribute(method: string, params: JsonObject | undefined, on: ReceivedOn): ServerMessage {
    const subscription = this.era === 'modern' ? subscriptionOf(params) : undefined
    const related = subscription ?? on.relatedTo
    const caller = subscription === undefined ? this.#inFlight.callerOf(on) : this.#inFlight.listenerOf(subscription)
    const isCertain = this.era === 'modern' && related !== undefined && caller !== undefined
    return { method, params, caller, ...(isCertain && { isCertain }) }
  }
}

/** The answer to a request that nobody here takes. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(RPC.methodNotFound, `Method not found: ${method}`)
}
