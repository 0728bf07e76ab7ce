import type { HttpResponse } from '../../environments/index.js'
import { ProtocolViolationError, SessionExpiredError, TransportClosedError } from '../../errors.js'
import {
  isRequest,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type ReceivedOn,
  type SendOptions,
  type Transport,
  type TransportClosed,
} from '../../protocol/index.js'
import { OpenExchanges, orAborted } from './abortion.js'
import { followAnswer } from './answer-stream.js'
import { type AwaitedAnswer, AwaitedAnswers } from './awaited-answers.js'
import { newCursor } from './event-stream.js'
import { isHeaderValue } from './header-fields.js'
import { Lingering } from './lingering.js'
import { type MessageSink, pumpMessages } from './message-stream.js'
import type { HttpOperations, OutgoingOperation, Performed } from './operations.js'
import { type PostAnswer, readPostAnswer } from './post-answer.js'
import { isRepeatable, withRetries } from './retries.js'
import { rpcFacts } from './rpc-facts.js'
import { endSession } from './session-end.js'
import { StandaloneStream } from './standalone-stream.js'
import type { Timers } from './timers.js'

export interface StreamableHttpOptions {
  readonly operations: HttpOperations
  readonly url: string
  readonly timers: Timers
  /** Known before the transport was made; told at `start`. */
  readonly warnings?: readonly Error[]
}

/** Header fields that a message brings; such a message is complete in itself. */
type OwnFields = SendOptions['headers']

/**
 * MCP's streamable HTTP, client side. Messages of the revisions 2025-03-26 to 2025-11-25 go out within a session; those
 * of 2026-07-28, which bring their own header fields, stand alone.
 *
 * `send` of a request settles with its exchange: it resolves when the answer was handed to `onmessage` and rejects when
 * none will come. Errors: `TransportClosedError`, `SessionExpiredError` (then the owner makes a new transport),
 * `AuthRequiredError`, `InsufficientScopeError`, `HttpStatusError`, `RedirectRefusedError`, `LimitExceededError`,
 * `ProtocolViolationError`, `CancelledError`, `InvalidArgumentsError`.
 */
export class StreamableHttpTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined
  readonly #options: StreamableHttpOptions
  readonly #exchanges = new OpenExchanges()
  readonly #awaited = new AwaitedAnswers()
  readonly #lingering: Lingering
  #standalone: StandaloneStream | undefined
  #sessionId: string | undefined
  /** The server said that it does not know the session: nothing is sent under it any more. */
  #sessionLost: SessionExpiredError | undefined
  #protocolVersion: string | undefined
  #closing: Promise<void> | undefined

  constructor(options: StreamableHttpOptions) {
    this.#options = options
    this.#lingering = new Lingering(options.timers)
  }

  async start(): Promise<void> {
    for (const warning of this.#options.warnings ?? []) this.onwarning?.(warning)
  }

  protocolVersion(version: string): void {
    this.#protocolVersion = version
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    if (this.#closing !== undefined) throw new TransportClosedError('Transport closed', { sent: false })
    const exchange = this.#exchanges.begin(options.signal)
    try {
      await withRetries(isRepeatable(message), this.#options.timers, exchange.signal, () =>
        this.#exchange(message, options.headers, exchange.signal),
      )
    } catch (error) {
      if (error instanceof SessionExpiredError && options.headers === undefined) this.#sessionLost = error
      throw error
    } finally {
      exchange.end()
    }
    if ('method' in message && message.method === 'notifications/initialized') this.#listen()
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #exchange(message: JsonRpcMessage, fields: OwnFields, signal: AbortSignal): Promise<void> {
    if (!isRequest(message)) return this.#tell(message, fields, signal)
    const awaited = this.#awaited.await(message.id)
    try {
      await this.#ask(message, fields, awaited, signal)
    } finally {
      this.#awaited.forget(awaited)
    }
  }

  /** A notification, or an answer of ours: nothing comes back for it, though messages may ride along. */
  async #tell(message: JsonRpcMessage, fields: OwnFields, signal: AbortSignal): Promise<void> {
    const { answer, performed } = await this.#post(message, fields, signal)
    if (answer.kind !== 'events') return
    const rest = pumpMessages(answer.response.body, newCursor(), performed.place, this.#sink({}))
    this.#lingering.add(answer.response, rest)
  }

  async #ask(request: JsonRpcRequest, fields: OwnFields, awaited: AwaitedAnswer, signal: AbortSignal): Promise<void> {
    const { answer, performed } = await this.#post(request, fields, signal)
    const sink = this.#sink({ relatedTo: request.id })
    if (answer.kind === 'events') {
      return followAnswer(performed, {
        awaited,
        sink,
        signal,
        timers: this.#options.timers,
        ...(fields === undefined && { resume: (lastEventId) => this.#get(lastEventId, signal) }),
        linger: (response, rest) => this.#lingering.add(response, rest),
      })
    }
    if (answer.kind === 'messages') for (const message of answer.messages) sink.message(message)
    else if (this.#standalone?.listening) return orAborted(awaited.arrival, signal)
    if (!awaited.came) throw unanswered(request, performed)
  }

  async #post(
    message: JsonRpcMessage,
    fields: OwnFields,
    signal: AbortSignal,
  ): Promise<{ readonly answer: PostAnswer; readonly performed: Performed }> {
    const initializing = isRequest(message) && message.method === 'initialize'
    if (initializing) this.#forgetSession()
    if (this.#sessionLost !== undefined && fields === undefined) throw this.#sessionLost
    const hadSession = this.#sessionId !== undefined && fields === undefined
    const performed = await this.#options.operations.perform({
      ...(fields === undefined ? this.#about(signal) : { url: this.#options.url, headers: fields, signal }),
      method: 'POST',
      body: JSON.stringify(message),
      ...rpcFacts(message),
    })
    if (initializing) this.#takeSession(performed.response)
    const posted = { message, hadSession, standsAlone: fields !== undefined, signal }
    return { performed, answer: await readPostAnswer(performed, posted, this.#options.timers) }
  }

  #get(lastEventId: string | undefined, signal: AbortSignal): Promise<Performed> {
    return this.#options.operations.perform({
      ...this.#about(signal),
      method: 'GET',
      ...(lastEventId !== undefined && { lastEventId }),
    })
  }

  #about(signal: AbortSignal): Omit<OutgoingOperation, 'method'> {
    return {
      url: this.#options.url,
      signal,
      ...(this.#protocolVersion !== undefined && { protocolVersion: this.#protocolVersion }),
      ...(this.#sessionId !== undefined && { sessionId: this.#sessionId }),
    }
  }

  #forgetSession(): void {
    this.#standalone?.stop()
    this.#standalone = undefined
    this.#sessionId = undefined
    this.#sessionLost = undefined
  }

  #takeSession({ status, header }: HttpResponse): void {
    const id = header('mcp-session-id')
    if (status >= 200 && status <= 299 && id !== undefined && id !== '' && isHeaderValue(id)) this.#sessionId = id
  }

  #listen(): void {
    if (this.#closing !== undefined || this.#standalone !== undefined) return
    this.#standalone = new StandaloneStream({
      timers: this.#options.timers,
      open: (lastEventId, signal) => this.#get(lastEventId, signal),
      sink: this.#sink({}),
      warn: (warning) => this.onwarning?.(warning),
    })
    this.#standalone.start()
  }

  #sink(on: ReceivedOn): MessageSink {
    return {
      message: (message) => {
        if (this.#closing !== undefined) return
        this.onmessage?.(message, on)
        this.#awaited.note(message)
      },
      fault: (fault) => {
        // The unreadable thing was the very answer: no other will come.
        if (on.relatedTo !== undefined && fault.data?.id === on.relatedTo) throw fault
        this.onwarning?.(fault)
      },
    }
  }

  async #end(): Promise<void> {
    const hasSession = this.#sessionId !== undefined && this.#sessionLost === undefined
    this.#standalone?.stop()
    this.#lingering.cancelAll()
    this.#exchanges.abortAll(new TransportClosedError('Transport closed', { sent: true }))
    if (hasSession) {
      const warning = await endSession(this.#options.timers, (signal) =>
        this.#options.operations.perform({ ...this.#about(signal), method: 'DELETE' }),
      )
      if (warning !== undefined) this.onwarning?.(warning)
    }
    this.onclose?.({})
  }
}

function unanswered(request: JsonRpcRequest, { place, response }: Performed): ProtocolViolationError {
  const text = `${place} answered ${request.method} with HTTP ${response.status}, but not with its result`
  return new ProtocolViolationError(text, { place, data: { status: response.status, sent: true } })
}
