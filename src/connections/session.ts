import { OperationTimeoutError, ReeveError, RpcError, TransportClosedError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import {
  type InboundRequest,
  type JsonObject,
  Peer,
  type ReceivedOn,
  type RequestId,
  RPC,
  type Transport,
  type TransportClosed,
} from '../protocol/index.js'
import type { ActiveTime } from './active-time.js'
import { Activity } from './activity.js'
import { type Attribution, type Caller, InFlight } from './in-flight.js'
import { type Handshake, negotiate } from './negotiate.js'
import type { ClientProfile, RequestOptions } from './types.js'

/** A message that a server sent of its own accord. */
export interface ServerMessage {
  readonly method: string
  readonly params: JsonObject | undefined
  readonly caller: Caller | undefined
}

export interface SessionHandlers {
  onRequest(message: ServerMessage, signal: AbortSignal): Promise<JsonObject>
  onNotification(message: ServerMessage): void
  onClosed(session: Session, closed: TransportClosed): void
  onWarning(warning: Error): void
}

/** One transport, from its first byte to its last, with the handshake made on it. It never comes back once it ended. */
export class Session {
  readonly #key: ServerKey
  readonly #transport: Transport
  readonly #peer: Peer
  readonly #inFlight: InFlight
  readonly #handlers: SessionHandlers
  readonly #active: ActiveTime
  readonly #activity = new Activity()
  #ended = false

  constructor(
    key: ServerKey,
    transport: Transport,
    attribution: Attribution,
    active: ActiveTime,
    handlers: SessionHandlers,
  ) {
    this.#key = key
    this.#transport = transport
    this.#inFlight = new InFlight(attribution)
    this.#active = active
    this.#handlers = handlers
    this.#peer = new Peer(transport, {
      onRequest: (method, params, context) => this.#answer(method, params, context),
      onNotification: (method, params, on) => handlers.onNotification(this.#attribute(method, params, on)),
      onClose: (closed) => {
        this.#ended = true
        handlers.onClosed(this, closed)
      },
      onWarning: (warning) => handlers.onWarning(warning),
    })
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Resolves when no request is out. */
  drained(): Promise<void> {
    return this.#activity.idle()
  }

  async begin(profile: ClientProfile, signal: AbortSignal): Promise<Handshake> {
    await this.#peer.start()
    const handshake = await negotiate(this.#peer, this.#key, profile, signal)
    this.#transport.protocolVersion?.(handshake.protocolVersion)
    await this.#peer.notify('notifications/initialized', undefined, { signal })
    return handshake
  }

  /** `caller` absent: a request of our own, which nothing is attributed to. */
  async request(
    method: string,
    params: JsonObject | undefined,
    options: Omit<RequestOptions, 'origin'>,
    caller?: Caller,
  ): Promise<JsonObject> {
    const { signal, timeoutMs, onProgress } = options
    const over = this.#activity.begin()
    let id: RequestId | undefined
    const onId = (given: RequestId) => {
      id = given
      if (caller !== undefined) this.#inFlight.add(given, caller)
    }
    try {
      return await this.#peer.request(method, params, {
        onId,
        ...(signal && { signal }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(onProgress && { onProgress }),
      })
    } catch (error) {
      throw withKey(error, this.#key, method, timeoutMs)
    } finally {
      if (id !== undefined) this.#inFlight.delete(id)
      over()
    }
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#peer.notify(method, params)
  }

  /** Never rejects: what goes wrong is a warning. */
  async close(): Promise<void> {
    try {
      await this.#peer.close()
    } catch (error) {
      this.#handlers.onWarning(error instanceof Error ? error : new Error(String(error)))
    }
  }

  async #answer(method: string, params: JsonObject | undefined, context: InboundRequest): Promise<JsonObject> {
    if (method === 'ping') return {}
    const message = this.#attribute(method, params, context)
    this.#active.pause()
    try {
      return await this.#handlers.onRequest(message, context.signal)
    } finally {
      this.#active.resume()
    }
  }

  #attribute(method: string, params: JsonObject | undefined, on: ReceivedOn): ServerMessage {
    return { method, params, caller: this.#inFlight.callerOf(on) }
  }
}

/** The answer to a request that nobody here takes. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(RPC.methodNotFound, `Method not found: ${method}`)
}

function withKey(error: unknown, key: ServerKey, method: string, timeoutMs: number | undefined): unknown {
  if (!(error instanceof ReeveError) || error.key !== undefined) return error
  if (error instanceof RpcError) return new RpcError(error.rpcCode, error.message, error.rpcData, key)
  if (error instanceof TransportClosedError) return closedWithKey(error, key)
  if (error instanceof OperationTimeoutError) return new OperationTimeoutError(method, timeoutMs ?? 0, key)
  return error
}

function closedWithKey(error: TransportClosedError, key: ServerKey): TransportClosedError {
  const { sent, cause, place, data } = error
  return new TransportClosedError(error.message, {
    key,
    sent,
    cause,
    ...(place !== undefined && { place }),
    ...(data && { data }),
  })
}
