import type { Socket } from 'node:net'
import { LimitExceededError, ProtocolViolationError, TransportClosedError } from '../../../errors.js'
import {
  type JsonRpcMessage,
  LineSplitter,
  type ReceivedOn,
  type SendOptions,
  type Transport,
  type TransportClosed,
  utf8Text,
} from '../../../protocol/index.js'
import { parseInbound } from '../../inbound.js'
import { BROKER_LIMITS } from './limits.js'

export interface SocketTransportOptions {
  /** The longest frame of the other side, in bytes. */
  readonly limit: number
  /** Names the other side in errors: `the broker`. */
  readonly peer: string
}

/**
 * JSON-RPC messages over the broker's socket, one a line. Both ends are ours: a frame that is none ends the
 * connection, and so does the end of the other side, with everything that was asked.
 */
export class SocketTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined
  readonly #socket: Socket
  readonly #peer: string
  readonly #lines: LineSplitter
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor(socket: Socket, { limit, peer }: SocketTransportOptions) {
    this.#socket = socket
    this.#peer = peer
    this.#lines = new LineSplitter({
      limit,
      tooLong: 'refuse',
      what: `a frame of ${peer}`,
      onLine: (line) => this.#receive(line),
    })
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') return
    this.#state = 'open'
    const ended = () => this.#end(undefined)
    this.#socket
      .on('error', (error) => this.#end(error))
      .on('end', ended)
      .on('close', ended)
      .on('data', (chunk: Buffer) => this.#push(chunk))
    if (this.#socket.destroyed || this.#socket.readableEnded) process.nextTick(ended)
  }

  send(message: JsonRpcMessage, _options?: SendOptions): Promise<void> {
    if (this.#state !== 'open') {
      return Promise.reject(new TransportClosedError(`${this.#peer} has gone`, { sent: false }))
    }
    if (this.#socket.writableLength > BROKER_LIMITS.backlog) {
      const error = new LimitExceededError(`output that ${this.#peer} does not read`, BROKER_LIMITS.backlog)
      this.#end(error)
      return Promise.reject(error)
    }
    const line = `${JSON.stringify(message)}\n`
    return new Promise((resolve, reject) => {
      this.#socket.write(line, (error) => {
        if (error) reject(new TransportClosedError(`can't write to ${this.#peer}: ${error.message}`, { sent: false }))
        else resolve()
      })
    })
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#socket.end()
    this.#end(undefined)
  }

  #push(chunk: Buffer): void {
    if (this.#state !== 'open') return
    try {
      this.#lines.push(chunk)
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #receive(line: Buffer): void {
    if (this.#state !== 'open') return
    const text = utf8Text(line)
    const inbound = text === undefined ? undefined : parseInbound(text)
    if (inbound?.kind === 'message') this.onmessage?.(inbound.message, {})
    else this.#end(new ProtocolViolationError(`${this.#peer} sent a frame that is no message`))
  }

  #end(error: Error | undefined): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    // What was written before an orderly end may still leave.
    if (error !== undefined || this.#socket.readableEnded) this.#socket.destroy()
    else this.#socket.resume()
    this.onclose?.(error === undefined || isParting(error) ? {} : { error })
  }
}

/** What a pipe says of somebody who has gone is no fault of anybody. */
function isParting(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET')
}
