import type { Socket } from 'node:net'
import { BrokerError } from '../../../errors.js'
import type { JsonObject } from '../../../protocol/index.js'
import { BROKER_LIMITS } from './limits.js'

/**
 * The lines of a handshake on a socket that speaks something else afterwards: nothing behind a line is taken before it
 * is asked for. All lines together have `timeoutMs`; whoever takes longer, sends no JSON object or too much of one is
 * refused.
 */
export class HandshakeLines {
  readonly #socket: Socket
  #timer: NodeJS.Timeout | undefined
  #wake: () => void = () => undefined
  #fault: BrokerError | undefined

  constructor(socket: Socket, timeoutMs: number = BROKER_LIMITS.handshakeMs) {
    this.#socket = socket
    socket.on('readable', this.#onReadable).on('end', this.#onEnd).on('close', this.#onEnd).on('error', this.#onError)
    this.within(timeoutMs)
  }

  /**
   * @param limit the longest line in bytes
   * @throws BrokerError when the other side ends, errs or is late
   */
  async next(limit: number): Promise<JsonObject> {
    const parts: Buffer[] = []
    for (let size = 0; ; ) {
      if (this.#fault !== undefined) throw this.#fault
      const chunk = this.#socket.read() as Buffer | null
      const end = chunk?.indexOf(LF) ?? -1
      if (chunk !== null) {
        parts.push(end === -1 ? chunk : chunk.subarray(0, end))
        size += end === -1 ? chunk.length : end
        if (size > limit)
          throw new BrokerError('broker_refused', `a line of the handshake is longer than ${limit} bytes`)
        // In this very turn: a stream that was read to its end takes nothing back later.
        if (end !== -1 && end + 1 < chunk.length) this.#socket.unshift(chunk.subarray(end + 1))
        if (end !== -1) return objectOf(Buffer.concat(parts))
      } else await this.#more()
    }
  }

  send(value: JsonObject): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(value)}\n`)
  }

  /** Begins the clock anew: what is still to come may take this long. */
  within(timeoutMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#fail(new BrokerError('broker_unreachable', LATE)), timeoutMs)
  }

  /** Ends the handshake: the socket is the caller's again. */
  release(): void {
    clearTimeout(this.#timer)
    const socket = this.#socket
    socket.off('readable', this.#onReadable).off('end', this.#onEnd).off('close', this.#onEnd)
    socket.off('error', this.#onError)
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  readonly #onReadable = (): void => this.#wake()

  readonly #onEnd = (): void => this.#fail(new BrokerError('broker_lost', 'the other side ended the handshake'))

  readonly #onError = (cause: Error): void =>
    this.#fail(new BrokerError('broker_lost', `the handshake broke off: ${cause.message}`, { cause }))

  #fail(fault: BrokerError): void {
    this.#fault ??= fault
    this.#wake()
  }
}

const LF = 0x0a
const LATE = 'no answer to the handshake in time'

function objectOf(line: Buffer): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(line.toString('utf8'))
  } catch {
    value = undefined
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new BrokerError('broker_refused', 'a line of the handshake is no JSON object')
}
