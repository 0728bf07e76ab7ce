import type { Socket } from 'node:net'
import { TransportClosedError } from '../../../errors.js'
import type { JsonRpcMessage, ReceivedOn, SendOptions, Transport, TransportClosed } from '../../../protocol/index.js'
import { StdioTransport } from '../../stdio/stdio-transport.js'
import { GOODBYE, type GoodbyeReason, isOurs, LEAVING } from '../wire/session-frames.js'
import { RequestNumbers } from './request-numbers.js'

/**
 * The broker's side of a session that a bridge brings: MCP frames as on stdio, and the bridge's own frames between them.
 * A bridge that ends without a word was killed, and its client with it: nothing is answered any more, all is cancelled.
 */
export class McpTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined
  readonly #socket: Socket
  readonly #inner: StdioTransport
  readonly #numbers: RequestNumbers
  #leaving = false

  constructor(socket: Socket, resumed: number) {
    this.#socket = socket
    this.#numbers = new RequestNumbers(resumed)
    this.#inner = new StdioTransport({ input: socket, output: socket })
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, on) => this.#receive(message, on)
    this.#inner.onwarning = (warning) => this.onwarning?.(warning)
    this.#inner.onclose = ({ error }) => {
      // What was written stands in the other side's buffer by now, or is given up.
      this.#socket.destroy()
      this.onclose?.(error === undefined || isParting(error) ? {} : { error })
    }
    this.#socket.on('end', this.#onEnd).on('close', this.#onEnd)
    await this.#inner.start()
    if (this.#socket.destroyed || this.#socket.readableEnded) process.nextTick(this.#onEnd)
  }

  protocolVersion(version: string): void {
    this.#inner.protocolVersion(version)
  }

  /** What a server sends under a name of ours would be taken for ours. */
  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if ('method' in message && isOurs(message.method)) return
    return this.#inner.send(this.#numbers.outgoing(message), options)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** Tells the bridge to carry the session on elsewhere. */
  goodbye(reason: GoodbyeReason): void {
    this.#inner.send({ jsonrpc: '2.0', method: GOODBYE, params: { reason } }).catch((error: unknown) => {
      if (!(error instanceof TransportClosedError)) this.onwarning?.(error as Error)
    })
  }

  #receive(message: JsonRpcMessage, on: ReceivedOn): void {
    if ('method' in message && message.method === LEAVING) this.#leaving = true
    else this.onmessage?.(this.#numbers.incoming(message), on)
  }

  readonly #onEnd = (): void => {
    if (!this.#leaving) this.#socket.destroy(GONE)
  }
}

/** What a pipe says of a client that has gone, by whichever end that is noticed first, is no fault of anybody. */
function isParting(error: Error): boolean {
  return error === GONE || ('code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET'))
}

/** An error is what ends the inner transport at once. */
const GONE = new Error('the client has gone')
