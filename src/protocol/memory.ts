import { TransportClosedError } from '../errors.js'
import type { JsonRpcMessage } from './message.js'
import type { ReceivedOn, SendOptions, Transport, TransportClosed } from './transport.js'

/**
 * Two ends of a connection inside one process, for servers that live in it. Messages are handed over as they are (no
 * copy), each in a turn of its own.
 */
export function memoryTransports(): [Transport, Transport] {
  const left = new MemoryTransport()
  const right = new MemoryTransport()
  left.connect(right)
  right.connect(left)
  return [left, right]
}

class MemoryTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined
  #other: MemoryTransport | undefined
  #state: 'new' | 'open' | 'closed' = 'new'
  #waiting: JsonRpcMessage[] = []

  connect(other: MemoryTransport): void {
    this.#other = other
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') return
    this.#state = 'open'
    const waiting = this.#waiting
    this.#waiting = []
    for (const message of waiting) this.#deliver(message)
  }

  async send(message: JsonRpcMessage, _options?: SendOptions): Promise<void> {
    if (this.#state === 'closed' || this.#other === undefined) {
      throw new TransportClosedError('Transport closed', { sent: false })
    }
    this.#other.#take(message)
  }

  async close(): Promise<void> {
    this.end()
    this.#other?.end()
  }

  #take(message: JsonRpcMessage): void {
    if (this.#state === 'new') this.#waiting.push(message)
    else this.#deliver(message)
  }

  #deliver(message: JsonRpcMessage): void {
    queueMicrotask(() => {
      if (this.#state === 'open') this.onmessage?.(message, {})
    })
  }

  private end(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    queueMicrotask(() => this.onclose?.({}))
  }
}
