import type { Writable } from 'node:stream'
import { EXEC_LIMITS } from '../../protocol/index.js'
import { internal } from '../wire/fault.js'

/** Bytes that wait for a child to read, whatever the number of writes. */
const MOST_BYTES = 64 * 1024 * 1024
/** How long a write waits for room. The reference waits for ever, and everything behind it. */
const ROOM_WITHIN_MS = 10_000

interface Waiting {
  readonly chunk: Buffer
  readonly accept: () => void
  readonly refuse: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** The stdin of a process: writes in the order in which they came, each id once. */
export class StdinQueue {
  readonly #stdin: Writable
  readonly #ids = new Map<string, Promise<void>>()
  readonly #waiting: Waiting[] = []
  #queued = 0
  #state: 'open' | 'broken' = 'open'

  constructor(stdin: Writable) {
    this.#stdin = stdin
    const broken = () => this.end()
    stdin.on('error', broken)
    stdin.on('close', broken)
  }

  /**
   * Resolves when the bytes are queued, at once in most cases. An id that was accepted before writes nothing.
   *
   * @throws RpcError -32603 when the child does not read, or its stdin is closed
   */
  write(id: string, chunk: Buffer): Promise<void> {
    const before = this.#ids.get(id)
    if (before !== undefined) return before
    const accepted = this.#enqueue(chunk)
    this.#ids.set(id, accepted)
    if (this.#ids.size > EXEC_LIMITS.writeIds) this.#ids.delete(this.#ids.keys().next().value ?? id)
    accepted.catch(() => this.#ids.delete(id))
    return accepted
  }

  /** Nothing is taken any more: the process ended, or closed its stdin. */
  end(): void {
    this.#state = 'broken'
    for (const { timer, refuse } of this.#waiting.splice(0)) {
      clearTimeout(timer)
      refuse(notTaken())
    }
  }

  #enqueue(chunk: Buffer): Promise<void> {
    if (this.#state === 'broken') return Promise.reject(notTaken())
    if (this.#hasRoom() && this.#waiting.length === 0) {
      this.#pass(chunk)
      return Promise.resolve()
    }
    return new Promise((accept, refuse) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        refuse(internal('the process does not read its stdin: nothing was written'))
      }, ROOM_WITHIN_MS)
      const waiting = { chunk, accept, refuse, timer }
      this.#waiting.push(waiting)
    })
  }

  #hasRoom(): boolean {
    return this.#queued < EXEC_LIMITS.stdinQueue && this.#stdin.writableLength < MOST_BYTES
  }

  #pass(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#queued += 1
    this.#stdin.write(chunk, (error) => {
      this.#queued -= 1
      if (error) this.end()
      else this.#takeWaiting()
    })
  }

  #takeWaiting(): void {
    while (this.#state === 'open' && this.#hasRoom()) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      clearTimeout(next.timer)
      this.#pass(next.chunk)
      next.accept()
    }
  }
}

const notTaken = () => internal('failed to write to process stdin')
