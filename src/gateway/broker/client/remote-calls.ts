import type { Socket } from 'node:net'
import { BrokerError, ReeveError, RpcError } from '../../../errors.js'
import { type InboundRequest, type JsonObject, Peer, RPC } from '../../../protocol/index.js'
import type { CallOptions } from '../../../threads/index.js'
import { BROKER_LIMITS } from '../wire/limits.js'
import { errorFromWire } from '../wire/remote-errors.js'
import { SocketTransport } from '../wire/socket-transport.js'
import { fromWire, type ThreadMethod, toWire, type WireCallOptions } from '../wire/thread-shapes.js'

export interface RemoteCallsHandlers {
  /** A request of the broker: a server's, or for an approval. */
  onRequest(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
  onNotification(method: string, params: JsonObject): void
}

/** Requests of a thread that lives in the broker, with their cancellation, progress and origin. */
export class RemoteCalls {
  readonly #peer: Peer
  readonly #handlers: RemoteCallsHandlers
  /** What callers gave as the origin of requests that are out, by the request's number. */
  readonly #origins = new Map<unknown, unknown>()

  constructor(socket: Socket, handlers: RemoteCallsHandlers) {
    this.#handlers = handlers
    const transport = new SocketTransport(socket, { limit: BROKER_LIMITS.brokerFrame, peer: 'the broker' })
    this.#peer = new Peer(transport, {
      onRequest: (method, params, request) => this.#answer(method, params ?? {}, request),
      onNotification: (method, params) => handlers.onNotification(method, params ?? {}),
      onClose: () => undefined,
      onWarning: () => undefined,
    })
  }

  start(): Promise<void> {
    return this.#peer.start()
  }

  close(): Promise<void> {
    return this.#peer.close()
  }

  /** The origin that a request's caller gave; undefined for one that is over. */
  originOf(number: unknown): unknown {
    return this.#origins.get(number)
  }

  /** @throws the error that the thread raised, or BrokerError `broker_lost` when the broker ended meanwhile */
  async request<Shape>(method: ThreadMethod, call: object, options: CallOptions = {}): Promise<Shape> {
    const { signal, onProgress, onContext: _, origin, ...rest } = options
    let number: unknown
    try {
      const wire: WireCallOptions = rest
      const result = await this.#peer.request(
        method,
        { call: toWire(call), options: toWire(wire) },
        {
          ...(signal && { signal }),
          ...(onProgress && { onProgress }),
          onId: (id) => {
            number = id
            if (origin !== undefined) this.#origins.set(id, origin)
          },
        },
      )
      return fromWire<Shape>(result)
    } catch (error) {
      throw asItWas(error, method)
    } finally {
      this.#origins.delete(number)
    }
  }

  async #answer(method: string, params: JsonObject, { signal }: InboundRequest): Promise<JsonObject> {
    try {
      return await this.#handlers.onRequest(method, params, signal)
    } catch (error) {
      if (error instanceof RpcError) throw error
      throw new RpcError(RPC.internalError, error instanceof Error ? error.message : 'the client failed')
    }
  }
}

/** A JSON-RPC error is the envelope of the thread's own one. */
function asItWas(error: unknown, method: string): unknown {
  if (error instanceof RpcError) return errorFromWire(fromWire(isObject(error.rpcData) ? error.rpcData : {}))
  if (error instanceof ReeveError && error.code === 'transport_closed') {
    return new BrokerError('broker_lost', `the broker ended before it answered ${method}`, { cause: error })
  }
  return error
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
