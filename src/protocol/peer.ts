import { CancelledError, ReeveError, RpcError, TransportClosedError } from '../errors.js'
import { ActiveClock } from './deadline.js'
import {
  isNotification,
  isRequest,
  type JsonObject,
  type JsonRpcErrorBody,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  type RequestId,
  RPC,
} from './message.js'
import { PendingRequests } from './pending.js'
import type { ReceivedOn, SendOptions, Transport, TransportClosed } from './transport.js'

/** What the owner of a peer answers. */
export interface PeerHandlers {
  /**
   * A request of the other side. A thrown `RpcError` keeps code, message and data; anything else is -32603. `undefined`
   * leaves it without an answer: there are revisions in which nothing may be answered.
   */
  onRequest(method: string, params: JsonObject | undefined, context: InboundRequest): Promise<JsonObject | undefined>
  onNotification(method: string, params: JsonObject | undefined, on: ReceivedOn): void
  onClose(closed: TransportClosed): void
  onWarning(warning: Error): void
}

export interface InboundRequest extends ReceivedOn {
  readonly id: RequestId
  /** Fires when the other side cancels, or the transport ends. */
  readonly signal: AbortSignal
}

export interface PeerRequestOptions extends SendOptions {
  /** Milliseconds of active time: it stands still while a request of the other side is being answered. */
  readonly timeoutMs?: number
  /** Asks for progress: a token of our own goes out in `_meta.progressToken`, whatever the params carried. */
  readonly onProgress?: (params: JsonObject) => void
  /** Called before anything is sent, with the id that `ReceivedOn.relatedTo` names later. */
  readonly onId?: (id: RequestId) => void
  /** Default true. False: giving up ends the exchange and says nothing, where its end is all that has to be said. */
  readonly tellsCancellation?: boolean
  /** The other side may end the request with `notifications/cancelled`, which then fails with `CancelledError`. */
  readonly mayBeEnded?: boolean
}

/**
 * One side of a JSON-RPC conversation, either direction, over any transport. It routes by id and method and looks at
 * nothing else: params and results pass as parsed.
 *
 * Errors of `request`: `RpcError` (the other side's answer), `OperationTimeoutError`, `CancelledError`,
 * `TransportClosedError`, or whatever the transport's `send` raised.
 *
 * @example
 * ```ts
 * const peer = new Peer(transport, handlers)
 * await peer.start()
 * const { tools } = await peer.request('tools/list', {}, { timeoutMs: 30_000 })
 * ```
 */
export class Peer {
  readonly #transport: Transport
  readonly #handlers: PeerHandlers
  readonly #clock = new ActiveClock()
  readonly #pending = new PendingRequests(this.#clock)
  /** Requests of the other side that we are answering. The id's type counts: 1 and "1" are two. */
  readonly #answering = new Map<RequestId, AbortController>()
  /** Own requests that the other side may end. */
  readonly #endable = new Set<number>()
  #closed: TransportClosed | undefined

  constructor(transport: Transport, handlers: PeerHandlers) {
    this.#transport = transport
    this.#handlers = handlers
    transport.onmessage = (message, on) => this.#receive(message, on)
    transport.onwarning = (warning) => handlers.onWarning(warning)
    transport.onclose = (closed) => this.#end(closed)
  }

  start(): Promise<void> {
    return this.#transport.start()
  }

  /** Own requests without an answer yet. */
  get inFlight(): number {
    return this.#pending.size
  }

  async request(method: string, params?: JsonObject, options: PeerRequestOptions = {}): Promise<JsonObject> {
    const { signal, timeoutMs, onProgress, relatedTo, headers } = options
    if (this.#closed !== undefined) throw closedError(method, this.#closed, false)
    if (signal?.aborted) throw new CancelledError()
    const { id, answer } = this.#pending.add(method, onProgress)
    options.onId?.(id)
    const exchange = new AbortController()
    const giveUp = (reason: string) => {
      exchange.abort()
      if (options.tellsCancellation !== false) this.#tellCancelled(id, method, reason, relatedTo)
    }
    const onAbort = () => {
      if (this.#pending.fail(id, new CancelledError())) giveUp(CANCELLED_BY_CALLER)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    if (options.mayBeEnded === true) this.#endable.add(id)
    if (timeoutMs !== undefined) this.#pending.expireAfter(id, timeoutMs, () => giveUp(CANCELLED_BY_CALLER))
    const message: JsonRpcRequest = { jsonrpc: '2.0', id, method }
    const sent = onProgress === undefined ? params : withProgressToken(params, id)
    if (sent !== undefined) message.params = sent
    this.#transport
      .send(message, {
        signal: exchange.signal,
        ...(relatedTo !== undefined && { relatedTo }),
        ...(headers && { headers }),
      })
      .catch((error: unknown) => this.#pending.fail(id, asError(error)))
    try {
      return await answer
    } finally {
      signal?.removeEventListener('abort', onAbort)
      this.#endable.delete(id)
    }
  }

  notify(method: string, params?: JsonObject, options?: SendOptions): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(closedError(method, this.#closed, false))
    return this.#transport.send({ jsonrpc: '2.0', method, ...(params && { params }) }, options)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  #receive(message: JsonRpcMessage, on: ReceivedOn): void {
    if (isRequest(message)) void this.#answer(message, on)
    else if (isNotification(message)) this.#notified(message.method, message.params, on)
    else {
      const fault = this.#pending.settle(message)
      if (fault !== undefined) this.#handlers.onWarning(fault)
    }
  }

  #notified(method: string, params: JsonObject | undefined, on: ReceivedOn): void {
    if (method === 'notifications/progress' && this.#pending.progress(params)) return
    if (method === 'notifications/cancelled') this.#cancelled(params?.requestId)
    else this.#handlers.onNotification(method, params, on)
  }

  #cancelled(id: JsonValue | undefined): void {
    const reason = new CancelledError('cancelled by the other side')
    if (typeof id === 'number' && this.#endable.has(id)) this.#pending.fail(id, reason)
    else this.#answering.get(id as RequestId)?.abort(reason)
  }

  async #answer(request: JsonRpcRequest, on: ReceivedOn): Promise<void> {
    const { id, method, params } = request
    if (this.#answering.has(id)) {
      const message = `request id ${JSON.stringify(id)} is already in use`
      return this.#reply(id, { jsonrpc: '2.0', id, error: { code: RPC.invalidRequest, message } })
    }
    const controller = new AbortController()
    this.#answering.set(id, controller)
    this.#clock.pause()
    try {
      const result = await this.#handlers.onRequest(method, params, { ...on, id, signal: controller.signal })
      if (result !== undefined && !controller.signal.aborted) await this.#reply(id, { jsonrpc: '2.0', id, result })
    } catch (error) {
      if (!controller.signal.aborted) await this.#reply(id, { jsonrpc: '2.0', id, error: errorBody(error) })
    } finally {
      this.#clock.resume()
      this.#answering.delete(id)
    }
  }

  async #reply(id: RequestId, message: JsonRpcMessage): Promise<void> {
    if (this.#closed !== undefined) return
    try {
      await this.#transport.send(message, { relatedTo: id })
    } catch (error) {
      this.#handlers.onWarning(asError(error))
    }
  }

  #tellCancelled(id: number, method: string, reason: string, relatedTo: RequestId | undefined): void {
    // The specification forbids cancelling `initialize`.
    if (method === 'initialize' || this.#closed !== undefined) return
    this.#transport
      .send(
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } },
        relatedTo === undefined ? undefined : { relatedTo },
      )
      .catch((error: unknown) => this.#handlers.onWarning(asError(error)))
  }

  #end(closed: TransportClosed): void {
    if (this.#closed !== undefined) return
    this.#closed = closed
    this.#pending.failAll(closedError('the request', closed, true))
    for (const controller of this.#answering.values()) controller.abort(new CancelledError('the connection ended'))
    this.#handlers.onClose(closed)
  }
}

/** As the reference says it on the wire (tool-calls, 4). */
const CANCELLED_BY_CALLER = 'MCP request cancelled by caller'

function withProgressToken(params: JsonObject | undefined, token: number): JsonObject {
  const meta = params?._meta
  const kept = typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? meta : {}
  return { ...params, _meta: { ...kept, progressToken: token } }
}

function closedError(what: string, closed: TransportClosed, sent: boolean): TransportClosedError {
  const why = closed.error === undefined ? 'Transport closed' : `Transport closed: ${closed.error.message}`
  return new TransportClosedError(why, { sent, cause: closed.error, data: { during: what } })
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function errorBody(error: unknown): JsonRpcErrorBody {
  if (error instanceof RpcError) {
    return {
      code: error.rpcCode,
      message: error.message,
      ...(error.rpcData !== undefined && { data: error.rpcData as JsonValue }),
    }
  }
  if (error instanceof ReeveError) {
    const { message, ...data } = error.toJSON()
    return { code: RPC.internalError, message: String(message), data: data as JsonValue }
  }
  return { code: RPC.internalError, message: error instanceof Error ? error.message : 'internal error' }
}
