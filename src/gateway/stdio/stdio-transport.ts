import type { Readable, Writable } from 'node:stream'
import { LimitExceededError, ProtocolViolationError, TransportClosedError } from '../../errors.js'
import {
  isNotification,
  isRequest,
  isResponse,
  type JsonRpcErrorResponse,
  type JsonRpcMessage,
  LIMITS,
  LineSplitter,
  type ReceivedOn,
  type RequestId,
  RPC,
  type SendOptions,
  type Transport,
  type TransportClosed,
  utf8Text,
} from '../../protocol/index.js'
import { allowsBatches, isServed, type Revision } from '../eras.js'
import { encodeAnswer, errorAnswer, type Inbound, parseInbound } from '../inbound.js'
import { BatchAnswers } from './batch-answers.js'

export interface StdioOptions {
  readonly input: Readable
  readonly output: Writable
  /** Milliseconds that requests may still take once the client closed its end. Default 5000. */
  readonly drainMs?: number
  /** Bytes that a client may leave unread before the session is given up. Default four of the longest lines. */
  readonly backlogBytes?: number
}

/**
 * The client's side of a session over this process's stdin and stdout: one message a line. A client that closes stdin
 * ends the session; what it had asked before is still answered, within `drainMs`.
 */
export class StdioTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined

  readonly #input: Readable
  readonly #output: Writable
  readonly #drainMs: number
  readonly #backlogBytes: number
  readonly #lines: LineSplitter
  readonly #unanswered = new Set<RequestId>()
  readonly #batches = new BatchAnswers()
  /** Writes that the client has not taken yet; a stream that is given up never calls back. */
  readonly #writing = new Set<(error: Error | undefined) => void>()
  #revision: Revision | undefined
  #state: 'new' | 'open' | 'draining' | 'closed' = 'new'
  #drain: NodeJS.Timeout | undefined

  constructor(options: StdioOptions) {
    this.#input = options.input
    this.#output = options.output
    this.#drainMs = options.drainMs ?? 5000
    this.#backlogBytes = options.backlogBytes ?? 4 * LIMITS.stdioLine
    this.#lines = new LineSplitter({
      limit: LIMITS.stdioLine,
      tooLong: 'refuse',
      what: "a line of the client's input",
      onLine: (line) => this.#receive(line),
    })
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') return
    this.#state = 'open'
    this.#output.on('error', this.#onOutputError)
    this.#input.on('error', this.#onInputError).on('end', this.#onInputEnd).on('close', this.#onInputEnd)
    this.#input.on('data', this.#onData)
  }

  protocolVersion(version: string): void {
    if (isServed(version)) this.#revision = version
  }

  async send(message: JsonRpcMessage, _options?: SendOptions): Promise<void> {
    if (this.#state === 'closed') throw new TransportClosedError('the client has left', { sent: false })
    if (!isResponse(message)) return this.#write(JSON.stringify(message))
    const answer = encodeAnswer(message)
    const line = message.id === null ? answer : this.#batches.add(message.id, answer)
    if (line !== undefined) await this.#write(line)
    if (message.id !== null) this.#settled(message.id)
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    await this.#flushed()
    this.#end(undefined)
  }

  readonly #onData = (chunk: Buffer): void => {
    try {
      this.#lines.push(chunk)
    } catch (error) {
      const message = `Invalid Request: the line is longer than ${LIMITS.stdioLine} bytes`
      this.#complain(errorAnswer(null, RPC.invalidRequest, message))
      this.#end(error instanceof Error ? error : new Error(String(error)))
    }
  }

  readonly #onInputEnd = (): void => {
    if (this.#state !== 'open') return
    this.#lines.end()
    this.#state = 'draining'
    this.#drain = setTimeout(() => this.#end(undefined), this.#drainMs)
    this.#endWhenAnswered()
  }

  readonly #onInputError = (error: Error): void => this.#end(error)

  readonly #onOutputError = (error: Error): void => this.#end(error)

  #receive(line: Buffer): void {
    if (this.#state !== 'open') return
    const inbound = inboundOf(line)
    if (inbound?.kind === 'message') this.#deliver(inbound.message)
    else if (inbound?.kind === 'batch') this.#receiveBatch(inbound.messages)
    else if (inbound?.kind === 'invalid') this.#complain(inbound.answer)
  }

  #receiveBatch(messages: readonly JsonRpcMessage[]): void {
    if (!allowsBatches(this.#revision)) {
      this.#complain(errorAnswer(null, RPC.invalidRequest, 'Invalid Request: this protocol revision has no batches'))
      return
    }
    this.#batches.expect(messages.filter(isRequest).map((request) => request.id))
    for (const message of messages) this.#deliver(message)
  }

  #deliver(message: JsonRpcMessage): void {
    // A stream of changes is answered when this side ends it, and so must not keep it open.
    if (isRequest(message) && message.method !== 'subscriptions/listen') this.#unanswered.add(message.id)
    this.onmessage?.(message, {})
    if (isNotification(message) && message.method === 'notifications/cancelled') {
      const id = message.params?.requestId as RequestId
      const line = this.#batches.drop(id)
      if (line !== undefined) void this.#write(line).catch(this.#warn)
      this.#settled(id)
    }
  }

  /** Tells the client what was wrong with its line, and the owner of the transport too. */
  #complain(answer: JsonRpcErrorResponse): void {
    this.#warn(new ProtocolViolationError(`the client sent a line that was refused: ${answer.error.message}`))
    this.#write(JSON.stringify(answer)).catch(this.#warn)
  }

  #settled(id: RequestId): void {
    this.#unanswered.delete(id)
    this.#endWhenAnswered()
  }

  #endWhenAnswered(): void {
    if (this.#state === 'draining' && this.#unanswered.size === 0) void this.close()
  }

  #write(line: string): Promise<void> {
    if (this.#output.writableLength > this.#backlogBytes) {
      const error = new LimitExceededError('output that the client does not read', this.#backlogBytes)
      this.#end(error)
      return Promise.reject(error)
    }
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null | undefined) => {
        this.#writing.delete(settle)
        if (error) reject(new TransportClosedError(`can't write to the client: ${error.message}`, { sent: false }))
        else resolve()
      }
      this.#writing.add(settle)
      this.#output.write(`${line}\n`, settle)
    })
  }

  /** Waits until everything written has left, or the client has had `drainMs` to take it. */
  #flushed(): Promise<void> {
    if (this.#output.writableLength === 0 || this.#output.destroyed) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#drainMs)
      this.#output.write('', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #end(error: Error | undefined): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    clearTimeout(this.#drain)
    this.#input.off('data', this.#onData).off('end', this.#onInputEnd).off('close', this.#onInputEnd)
    this.#input.pause()
    for (const settle of this.#writing) settle(error ?? new Error('the session has ended'))
    this.onclose?.(error === undefined ? {} : { error })
  }

  readonly #warn = (error: unknown): void => {
    this.onwarning?.(error instanceof Error ? error : new Error(String(error)))
  }
}

/** Undefined for an empty line. */
function inboundOf(line: Buffer): Inbound | undefined {
  const text = utf8Text(line)
  if (text === undefined) {
    return { kind: 'invalid', answer: errorAnswer(null, RPC.parseError, 'Parse error: the line is not UTF-8') }
  }
  return text.trim() === '' ? undefined : parseInbound(text)
}
