import type { Timer, Timers } from '../../connections/index.js'

/** Milliseconds before the attempts after a startup that failed; the last one repeats (reference: connections, 7.6). */
const DELAYS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const

/** Has the hosted apps come back after a startup that failed: in the background, one attempt at a time. Nobody waits for it. */
export class AppsReconnect {
  readonly #timers: Timers
  readonly #attempt: () => void
  #failures = 0
  #timer: Timer | undefined
  #isClosed = false

  constructor(timers: Timers, attempt: () => void) {
    this.#timers = timers
    this.#attempt = attempt
  }

  /** It failed, and has not been up since. */
  get isAway(): boolean {
    return this.#failures > 0
  }

  failed(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    const delay = DELAYS[Math.min(this.#failures, DELAYS.length - 1)] ?? 0
    this.#failures += 1
    const run = () => {
      this.#timer = undefined
      this.#attempt()
    }
    this.#timer = this.#timers.after(delay, run, { background: true })
  }

  /** It came up, or is another account's by now. */
  reset(): void {
    this.#failures = 0
    this.#timer?.cancel()
    this.#timer = undefined
  }

  close(): void {
    this.#isClosed = true
    this.reset()
  }
}
