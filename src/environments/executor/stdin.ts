import { OperationTimeoutError, ProcessFailedError, type ReeveError, RpcError } from '../../errors.js'
import { EXEC_LIMITS, EXEC_METHODS, encodeBytes } from '../../protocol/index.js'
import { textOf } from './answers.js'
import type { Session } from './session.js'

export interface RemoteStdinOptions {
  readonly session: Session
  readonly processId: string
  readonly place: string
  readonly label: string
  /** Milliseconds for the executor to take a piece. */
  readonly writeMs: number
  /** Milliseconds that a new write waits for a connection that is being taken up again. */
  readonly recoveringWaitMs: number
  /** The executor took too long over a piece: nothing more can be done on this connection. */
  readonly onstuck: (error: ReeveError) => void
}

/** The stdin of a process on an executor: one write in flight, since several could be swapped there. */
export class RemoteStdin {
  readonly #options: RemoteStdinOptions
  #queue: Promise<void> = Promise.resolve()
  #lastWrite = 0
  #closed: { readonly failure: ReeveError | undefined } | undefined

  constructor(options: RemoteStdinOptions) {
    this.#options = options
  }

  /**
   * Resolves when the executor has queued all of it. Rejects with `EnvironmentError` (`environment_recovering`: nothing of it
   * was sent), `ProcessFailedError` or what the process failed of.
   */
  write(bytes: Buffer): Promise<void> {
    const asked = performance.now()
    const written = this.#queue.then(() => this.#writeAll(bytes, asked))
    // The next one waits for its turn, whatever became of this one.
    this.#queue = written.catch(() => {})
    return written
  }

  /** True the first time. */
  close(failure?: ReeveError): boolean {
    const first = this.#closed === undefined
    this.#closed = { failure: this.#closed?.failure ?? failure }
    return first
  }

  async #writeAll(bytes: Buffer, asked: number): Promise<void> {
    for (let start = 0; start < bytes.length; start += PIECE) {
      // Half a message is worse than a late one: only the first piece may be turned away.
      const patience = Math.max(0, asked + this.#options.recoveringWaitMs - performance.now())
      const waitMs = start === 0 ? patience : EXEC_LIMITS.detachedMs
      await this.#writePiece(encodeBytes(bytes.subarray(start, start + PIECE)), waitMs)
    }
  }

  /** With the same id until the executor has answered: what it took before a loss it does not take twice. */
  async #writePiece(chunk: string, firstWaitMs: number): Promise<void> {
    const { session, processId, place, writeMs } = this.#options
    this.#lastWrite += 1
    const params = { processId, chunk, writeId: String(this.#lastWrite) }
    for (let waitMs = firstWaitMs; ; waitMs = EXEC_LIMITS.detachedMs) {
      if (this.#closed !== undefined) throw this.#gone()
      const link = await session.link(waitMs)
      try {
        const answer = await link.call(EXEC_METHODS.processWrite, params, { timeoutMs: writeMs })
        if (textOf(answer, 'status', place) !== 'accepted') throw this.#gone()
        return
      } catch (error) {
        if (error instanceof OperationTimeoutError) this.#options.onstuck(error)
        if (error instanceof RpcError) throw this.#gone(error)
        if (link.open || error instanceof OperationTimeoutError) throw error
        // The connection reports its loss a turn later than its calls do.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  }

  #gone(cause?: unknown): ReeveError {
    const { label, place } = this.#options
    return this.#closed?.failure ?? new ProcessFailedError(`${label}: stdin is closed`, { place, cause })
  }
}

const PIECE = 1024 * 1024
