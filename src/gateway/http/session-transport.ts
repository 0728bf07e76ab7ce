import type { ServerResponse } from 'node:http'
import { TransportClosedError } from '../../errors.js'
import {
  isNotification,
  isRequest,
  isResponse,
  type JsonRpcMessage,
  type JsonRpcResponse,
  type ReceivedOn,
  type RequestId,
  type SendOptions,
  type Transport,
  type TransportClosed,
} from '../../protocol/index.js'
import { isServed, primesStreams, type Revision } from '../eras.js'
import { encodeAnswer } from '../inbound.js'
import { REFUSALS, type Refusal, refuse } from './answers.js'
import { EventStream, parseEventId } from './event-stream.js'
import { Exchange } from './exchange.js'
import type { HttpLimits } from './limits.js'
import { ReplayLog } from './replay-log.js'
import { SseConnection } from './sse-connection.js'

/**
 * One client's session over streamable HTTP: POSTs come in, and what goes out finds the response stream that it belongs
 * to. `relatedTo` is the client request whose POST carries a message; without one, or when that client left for good,
 * the standalone stream does.
 */
export class HttpSessionTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined

  /** The value of `Mcp-Session-Id`: whoever knows it and the principal's token speaks for the client. */
  readonly id: string
  readonly #limits: HttpLimits
  readonly #onEnd: () => void
  readonly #exchanges = new Map<RequestId, Exchange>()
  readonly #streams = new Map<number, EventStream>()
  readonly #answers: ReplayLog
  readonly #standalone: EventStream
  #lastStream = STANDALONE
  #revision: Revision | undefined
  #handshake: { readonly id: RequestId; readonly failed: boolean } | undefined
  #closed = false
  #lastActive = performance.now()

  constructor(id: string, limits: HttpLimits, onEnd: () => void) {
    this.id = id
    this.#limits = limits
    this.#onEnd = onEnd
    // Two logs, so that chatter on the standalone stream can't push out an answer that a client comes back for.
    this.#answers = new ReplayLog(limits.replayBytes)
    this.#standalone = new EventStream(STANDALONE, new ReplayLog(limits.replayBytes))
  }

  async start(): Promise<void> {}

  protocolVersion(version: string): void {
    if (isServed(version)) this.#revision = version
  }

  get revision(): Revision | undefined {
    return this.#revision
  }

  get inFlight(): number {
    return this.#exchanges.size
  }

  /** Milliseconds since the last use; undefined while a stream or request is open. */
  get idleMs(): number | undefined {
    return this.#exchanges.size > 0 || this.#attached() ? undefined : performance.now() - this.#lastActive
  }

  /**
   * Takes one POST. Requests in it are answered on `response`; without any it is accepted with 202.
   * Returns why it was refused instead, and then nothing was delivered.
   */
  receive(response: ServerResponse, messages: readonly JsonRpcMessage[], batch: boolean): Refusal | undefined {
    this.#touch()
    if (this.#closed) return REFUSALS.endedSession
    const ids = messages.filter(isRequest).map((request) => request.id)
    if (this.#exchanges.size + ids.length > this.#limits.inFlight) return REFUSALS.tooManyRequests
    if (new Set(ids).size < ids.length || ids.some((id) => this.#exchanges.has(id))) return REFUSALS.repeatedId
    if (ids.length === 0) response.writeHead(202).end()
    else this.#openExchange(response, ids, batch)
    for (const message of messages) this.#deliver(message)
    return undefined
  }

  /** Takes one GET: the standalone stream, or whichever stream `lastEventId` belongs to. */
  listen(response: ServerResponse, lastEventId: string | undefined): Refusal | undefined {
    this.#touch()
    if (this.#closed) return REFUSALS.endedSession
    if (lastEventId === undefined) {
      this.#attach(this.#standalone, response, undefined)
      return undefined
    }
    const event = parseEventId(lastEventId)
    if (event === undefined || event.stream > this.#lastStream) return REFUSALS.eventId
    const stream = event.stream === STANDALONE ? this.#standalone : this.#streams.get(event.stream)
    if (stream?.precedes(event.sequence)) return REFUSALS.eventId
    // 204 is what makes an event source stop asking.
    if (stream === undefined || stream.exhausted(event.sequence)) response.writeHead(204).end()
    else this.#attach(stream, response, event.sequence)
    return undefined
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    if (this.#closed) throw new TransportClosedError('the session has ended', { sent: false })
    if (isResponse(message)) return this.#respond(message)
    const json = JSON.stringify(message)
    const exchange = options.relatedTo === undefined ? undefined : this.#exchanges.get(options.relatedTo)
    if (exchange?.reachable) exchange.push(json)
    else this.#standalone.push(json)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (const exchange of new Set(this.#exchanges.values())) {
      exchange.abort((response) => refuse(response, REFUSALS.endedSession))
    }
    for (const stream of [this.#standalone, ...this.#streams.values()]) stream.finish()
    this.#onEnd()
    this.onclose?.({})
  }

  #deliver(message: JsonRpcMessage): void {
    if (isRequest(message) && message.method === 'initialize' && this.#revision === undefined) {
      this.#handshake ??= { id: message.id, failed: false }
    }
    this.onmessage?.(message, {})
    if (isNotification(message) && message.method === 'notifications/cancelled') {
      const id = message.params?.requestId as RequestId
      this.#exchanges.get(id)?.cancelled(id)
      this.#exchanges.delete(id)
    }
  }

  #respond(message: JsonRpcResponse): void {
    const id = message.id
    if (id === null) return
    // No exchange: the client cancelled this request and expects nothing.
    const exchange = this.#exchanges.get(id)
    const failed = this.#handshake?.id === id && 'error' in message
    if (failed) this.#handshake = { id, failed }
    this.#exchanges.delete(id)
    exchange?.respond(id, encodeAnswer(message))
    this.#touch()
    if (failed) void this.close()
  }

  #openExchange(response: ServerResponse, ids: readonly RequestId[], batch: boolean): void {
    const exchange = new Exchange(response, {
      ids,
      batch,
      plainMs: this.#limits.plainMs,
      sse: this.#limits,
      openStream: () => this.#newStream(),
      primingRetryMs: () => this.#primingRetryMs(),
      headers: () => this.#headers(ids),
    })
    for (const id of ids) this.#exchanges.set(id, exchange)
  }

  /** The session's id goes out with the answer to `initialize`, unless that failed. */
  #headers(ids: readonly RequestId[]): Record<string, string> {
    const handshake = this.#handshake
    return handshake !== undefined && !handshake.failed && ids.includes(handshake.id)
      ? { [SESSION_HEADER]: this.id }
      : {}
  }

  #attach(stream: EventStream, response: ServerResponse, after: number | undefined): void {
    const connection = new SseConnection(response, { ...this.#limits, headers: {} }, () => {
      stream.detach(connection)
      this.#touch()
    })
    stream.attach(connection, after, this.#primingRetryMs())
  }

  #newStream(): EventStream {
    this.#lastStream += 1
    const stream = new EventStream(this.#lastStream, this.#answers)
    this.#streams.set(stream.id, stream)
    this.#forgetFinished()
    return stream
  }

  /** A stream that is forgotten here counts as read to its end. */
  #forgetFinished(): void {
    if (this.#streams.size <= FINISHED_KEPT) return
    for (const [id, stream] of this.#streams) {
      if (this.#streams.size <= FINISHED_KEPT) return
      if (stream.finished) this.#streams.delete(id)
    }
  }

  #primingRetryMs(): number | undefined {
    return primesStreams(this.#revision) ? this.#limits.retryMs : undefined
  }

  #attached(): boolean {
    return this.#standalone.attached || [...this.#streams.values()].some((stream) => stream.attached)
  }

  #touch(): void {
    this.#lastActive = performance.now()
  }
}

export const SESSION_HEADER = 'mcp-session-id'

const STANDALONE = 0
const FINISHED_KEPT = 64
