import type { Socket } from 'node:net'
import { BrokerError } from '../../../errors.js'
import type { JsonObject } from '../../../protocol/index.js'
import { BROKER_LIMITS } from './limits.js'

/**
 * The lines of a handshake on a socket that speaks something else afterwards: bytes behind the last line stay in the
 * socket. All together have `handshakeMs`; whoever takes longer, sends no JSON object or too much of it is cut off.
 */
export class HandshakeLines {
  readonly #socket: Socket
  readonly #timer: NodeJS.Timeout
  #wake: () => void = () => undefined
  #fault: BrokerError | undefined
  #held = Buffer.alloc(0)

  constructor(socket: Socket, timeoutMs: number = BROKER_LIMITS.handshakeMs) {
    this.#socket = socket
    socket.on('readable', this.#onReadable).on('end', this.#onEnd).on('close', this.#onEnd).on('error', this.#onError)
    this.#timer = setTimeout(() => this.#fail(new BrokerError('broker_unreachable', LATE)), timeoutMs)
  }

  /** @throws BrokerError when the other side ends, errs or is late */
  async next(limit: number): Promise<JsonObject> {
    for (;;) {
      const line = this.#take(limit)
      if (line !== undefined) return objectOf(line)
      if (this.#fault !== undefined) throw this.#fault
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  send(value: JsonObject): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(value)}\n`)
  }

  /** No more time limit; for what takes as long as it takes. */
  untimed(): void {
    clearTimeout(this.#timer)
  }

  /** Ends the handshake: the socket is the caller's again, with every byte that was not a line of it. */
  release(): void {
    clearTimeout(this.#timer)
    const socket = this.#socket
    socket.off('readable', this.#onReadable).off('end', this.#onEnd).off('close', this.#onEnd)
    socket.off('error', this.#onError)
    if (this.#held.length > 0) socket.unshift(this.#held)
    this.#held = Buffer.alloc(0)
  }

  #take(limit: number): Buffer | undefined {
    const end = this.#held.indexOf(LF)
    if (end > limit || (end === -1 && this.#held.length > limit)) {
      throw new BrokerError('broker_refused', `a line of the handshake is longer than ${limit} bytes`)
    }
    if (end === -1) return undefined
    const line = this.#held.subarray(0, end)
    this.#held = this.#held.subarray(end + 1)
    return line
  }

  readonly #onReadable = (): void => {
    for (let chunk: Buffer | null = this.#socket.read(); chunk !== null; chunk = this.#socket.read()) {
      this.#held = Buffer.concat([this.#held, chunk])
    }
    this.#wake()
  }

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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BrokerError('broker_refused', 'a line of the handshake is no JSON object')
  }
  return value as JsonObject
}
