import type { HttpResponse } from '../../environments/index.js'
import {
  OperationTimeoutError,
  ProtocolViolationError,
  RedirectRefusedError,
  type ReeveError,
  TransportClosedError,
} from '../../errors.js'
import type { JsonRpcMessage, ReceivedOn, SendOptions, Transport, TransportClosed } from '../../protocol/index.js'
import { OpenExchanges, orAborted } from './abortion.js'
import { newCursor, readEvents } from './event-stream.js'
import { EVENTS_TYPE, mediaType } from './media-type.js'
import { handOver, type MessageSink } from './message-stream.js'
import type { HttpOperations, Performed } from './operations.js'
import { readable, readPostAnswer, refuseUnauthorized } from './post-answer.js'
import { discard } from './read-body.js'
import { isRepeatable, withRetries } from './retries.js'
import { rpcFacts } from './rpc-facts.js'
import { contentTypeError, statusError } from './status-error.js'
import type { Timers } from './timers.js'

export interface SseOptions {
  readonly operations: HttpOperations
  readonly url: string
  readonly timers: Timers
  readonly warnings?: readonly Error[]
  /** How long the server may take to name its endpoint, milliseconds. */
  readonly endpointMs?: number
}

const ENDPOINT_TIME = 30_000

/**
 * The HTTP+SSE transport of revision 2024-11-05: one GET stream carries everything that the server says and names, in
 * its first event, the URL for our POSTs. The session is the stream: when it ends, the transport ends.
 *
 * `start` rejects like `StreamableHttpTransport.send`, and with `ProtocolViolationError` when no usable endpoint is named.
 */
export class SseTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined
  readonly #options: SseOptions
  readonly #exchanges = new OpenExchanges()
  readonly #stream = new AbortController()
  readonly #sink: MessageSink
  #endpoint: string | undefined
  #protocolVersion: string | undefined
  #reading: Promise<void> | undefined
  #closed = false

  constructor(options: SseOptions) {
    this.#options = options
    this.#sink = {
      message: (message) => {
        if (!this.#closed) this.onmessage?.(message, {})
      },
      fault: (fault) => this.onwarning?.(fault),
    }
  }

  async start(): Promise<void> {
    for (const warning of this.#options.warnings ?? []) this.onwarning?.(warning)
    const { timers, endpointMs = ENDPOINT_TIME } = this.#options
    const { signal } = this.#stream
    const late = new OperationTimeoutError('the endpoint event', endpointMs)
    const stopWaiting = timers.after(endpointMs, () => this.#stream.abort(late))
    try {
      const performed = await withRetries(true, timers, signal, () => this.#open(signal))
      await orAborted(this.#readUntilEndpoint(performed), signal)
    } catch (error) {
      this.#stream.abort(error)
      throw error
    } finally {
      stopWaiting()
    }
  }

  protocolVersion(version: string): void {
    this.#protocolVersion = version
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    const endpoint = this.#endpoint
    if (this.#closed || endpoint === undefined) throw new TransportClosedError('Transport closed', { sent: false })
    const exchange = this.#exchanges.begin(options.signal)
    try {
      await withRetries(isRepeatable(message), this.#options.timers, exchange.signal, () =>
        this.#post(message, endpoint, exchange.signal),
      )
    } finally {
      exchange.end()
    }
  }

  async close(): Promise<void> {
    if (!this.#closed) this.#end({})
    await this.#reading
  }

  async #open(signal: AbortSignal): Promise<Performed> {
    const { operations, url, timers } = this.#options
    const performed = await operations.perform({ method: 'GET', url, signal })
    refuseUnauthorized(performed)
    const { status, header } = performed.response
    if (status < 200 || status > 299) throw await statusError(performed, timers, signal)
    if (mediaType(header('content-type')) !== EVENTS_TYPE) throw await contentTypeError(performed, timers, signal)
    return performed
  }

  /** Resolves at the endpoint event; the reading goes on until the stream ends, and the transport with it. */
  #readUntilEndpoint(performed: Performed): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#reading = this.#read(readable(performed), performed.place, resolve).then(
        () => this.#streamEnded(performed.place, undefined, reject),
        (error: unknown) => this.#streamEnded(performed.place, error, reject),
      )
    })
  }

  async #read(response: HttpResponse, place: string, onEndpoint: () => void): Promise<void> {
    for await (const event of readEvents(response.body, newCursor(), place)) {
      if (event.event === 'endpoint') {
        this.#endpoint ??= endpointUrl(event.data, this.#options.url, place)
        onEndpoint()
      } else if (event.event === undefined || event.event === 'message') {
        if (event.data !== '') handOver(event.data, place, this.#sink)
      }
    }
  }

  #streamEnded(place: string, cause: unknown, refuse: (error: unknown) => void): void {
    if (this.#endpoint === undefined) {
      // It never came up: `start` says so, and the owner closes.
      refuse(cause ?? new ProtocolViolationError(`${place} opened an event stream but named no endpoint`, { place }))
      return
    }
    if (this.#closed) return
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    const text = `the event stream of ${place} ended${why}`
    this.#end({ error: new TransportClosedError(text, { sent: true, place, cause }) })
  }

  async #post(message: JsonRpcMessage, endpoint: string, signal: AbortSignal): Promise<void> {
    const { operations, timers } = this.#options
    const performed = await operations.perform({
      method: 'POST',
      url: endpoint,
      body: JSON.stringify(message),
      signal,
      ...rpcFacts(message),
      ...(this.#protocolVersion !== undefined && { protocolVersion: this.#protocolVersion }),
    })
    const { status } = performed.response
    if (status >= 200 && status <= 299) {
      void discard(performed.response, timers)
      return
    }
    const answer = await readPostAnswer(performed, { message, hadSession: true, signal }, timers)
    if (answer.kind === 'messages') for (const reply of answer.messages) this.#sink.message(reply)
  }

  #end(closed: TransportClosed): void {
    this.#closed = true
    const error: ReeveError = new TransportClosedError('Transport closed', { sent: true, cause: closed.error })
    this.#stream.abort(error)
    this.#exchanges.abortAll(error)
    this.onclose?.(closed)
  }
}

function endpointUrl(data: string, base: string, place: string): string {
  if (!URL.canParse(data, base)) {
    throw new ProtocolViolationError(`${place} named an endpoint that is no URL`, { place })
  }
  const endpoint = new URL(data, base)
  const { origin } = new URL(base)
  if (endpoint.origin !== origin) {
    throw new RedirectRefusedError(endpoint.origin, `the endpoint of an event stream must be on ${origin}`, { place })
  }
  endpoint.username = ''
  endpoint.password = ''
  endpoint.hash = ''
  return endpoint.href
}
