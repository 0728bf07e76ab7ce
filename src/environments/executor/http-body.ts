import { LimitExceededError, ProtocolViolationError, type ReeveError, TransportClosedError } from '../../errors.js'
import { decodeBytes, EXEC_LIMITS } from '../../protocol/index.js'
import { countOf, flagOf, memberOf } from './answers.js'

export interface HttpBodyOptions {
  /** Origin and path, for errors. */
  readonly place: string
  /** Makes the executor wait; false when it can't be made to. */
  readonly pause: () => boolean
  readonly resume: () => void
  /** Once: the last piece came (`whole`), or nobody wants the rest. */
  readonly onend: (whole: boolean) => void
}

/** The streamed body of one exchange: pieces in order, no more of them held than the reader is behind. */
export class HttpBody implements AsyncIterable<Buffer> {
  readonly #options: HttpBodyOptions
  readonly #pieces: Buffer[] = []
  #bytes = 0
  #lastSeq = 0
  #paused = false
  #end: { readonly error: ReeveError | undefined } | undefined
  #over = false
  #wake: (() => void) | undefined

  constructor(options: HttpBodyOptions) {
    this.#options = options
  }

  /** Takes the parameters of a `http/request/bodyDelta`. Raises `ProtocolViolationError` for a lie. */
  delta(params: unknown): void {
    if (this.#end !== undefined) return
    const { place } = this.#options
    const bytes = decodeBytes(memberOf(params, 'deltaBase64'))
    this.#lastSeq += 1
    if (countOf(params, 'seq', place) !== this.#lastSeq || bytes === undefined)
      throw new ProtocolViolationError(`the executor broke the order of the body of ${place}`, { place })
    this.#push(bytes)
    // The text of the error holds the whole URL, its query included (reference: executor-protocol, 7).
    if (memberOf(params, 'error') != null) {
      const text = `the executor lost the connection to ${place} within the answer`
      this.fail(new TransportClosedError(text, { sent: true, place, data: { sent: true, reason: 'reset' } }), true)
    } else if (flagOf(params, 'done', place)) this.#finish(undefined, true)
  }

  /** All of it came, or the rest is not wanted. */
  get over(): boolean {
    return this.#over
  }

  fail(error: ReeveError, whole = false): void {
    this.#finish(error, whole)
  }

  /** Drops what is left. Idempotent. */
  cancel(): void {
    this.#pieces.length = 0
    this.#finish(undefined, false)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const piece = this.#pieces.shift()
        if (piece !== undefined) {
          this.#bytes -= piece.length
          this.#letThrough()
          yield piece
        } else if (this.#end?.error !== undefined) throw this.#end.error
        else if (this.#end !== undefined) return
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
      }
    } finally {
      this.cancel()
    }
  }

  #push(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#pieces.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes > HIGH_WATER && !this.#paused) this.#paused = this.#options.pause()
    if (this.#bytes > EXEC_LIMITS.httpQueueBytes) {
      const { place } = this.#options
      this.fail(new LimitExceededError(`the unread body of ${place}`, EXEC_LIMITS.httpQueueBytes, { place }))
    }
    this.#wake?.()
  }

  #letThrough(): void {
    if (!this.#paused || this.#bytes > HIGH_WATER) return
    this.#paused = false
    this.#options.resume()
  }

  #finish(error: ReeveError | undefined, whole: boolean): void {
    this.#end ??= { error }
    this.#wake?.()
    if (this.#over) return
    this.#over = true
    if (this.#paused) this.#options.resume()
    this.#paused = false
    this.#options.onend(whole)
  }
}

const HIGH_WATER = 1024 * 1024
