import { ProtocolViolationError } from '../../errors.js'
import { redactedPrefix } from '../http/redaction.js'

export interface NoiseOptions {
  /** Names the source: `MCP server 'notes'`. */
  readonly who: string
  readonly secrets: readonly string[]
  readonly onwarning: (warning: ProtocolViolationError) => void
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number
}

/**
 * Reports what came over stdout and is no message. A server that logs to stdout may do so a thousand times a second, so
 * a few are shown in each stretch of time and the rest are counted.
 */
export class NoiseReport {
  readonly #options: NoiseOptions
  readonly #now: () => number
  #since = Number.NEGATIVE_INFINITY
  #shown = 0
  #hidden = 0

  constructor(options: NoiseOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** @param what completes "… on stdout": `text that is not JSON` */
  add(what: string, line: Buffer): void {
    if (this.#now() - this.#since > STRETCH_MS) {
      this.flush()
      this.#since = this.#now()
      this.#shown = 0
    }
    if (this.#shown >= SHOWN_PER_STRETCH) {
      this.#hidden += 1
      return
    }
    this.#shown += 1
    const { who, secrets } = this.#options
    const { text, dropped } = redactedPrefix(line.subarray(0, LOOKED_AT), PREVIEW_BYTES, secrets)
    const more = dropped > 0 || line.length > LOOKED_AT ? '…' : ''
    this.#warn(`${who} wrote ${what} on stdout (${line.length} bytes): ${text}${more}`)
  }

  /** Tells how many were not shown, if any. */
  flush(): void {
    if (this.#hidden === 0) return
    const count = this.#hidden
    this.#hidden = 0
    this.#warn(`${this.#options.who} wrote ${count} more lines on stdout that are no messages`)
  }

  #warn(message: string): void {
    this.#options.onwarning(new ProtocolViolationError(message, { place: 'stdout' }))
  }
}

const STRETCH_MS = 10_000
const SHOWN_PER_STRETCH = 5
const PREVIEW_BYTES = 200
/** More than is shown, so that a secret across the cut is found. */
const LOOKED_AT = 1024
