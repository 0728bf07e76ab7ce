import type { Timers } from './timers.js'

/**
 * Growing pauses between attempts: `firstMs`, doubled each time up to `capMs`, of which a random part of up to a half is
 * taken off, so that many clients of one server don't come back together.
 */
export class BackOff {
  readonly #firstMs: number
  readonly #capMs: number
  readonly #timers: Timers
  #attempts = 0

  constructor(firstMs: number, capMs: number, timers: Timers) {
    this.#firstMs = firstMs
    this.#capMs = capMs
    this.#timers = timers
  }

  /** The next pause, at least `atLeastMs` (what the server asked for). */
  next(atLeastMs = 0): number {
    const full = Math.min(this.#capMs, this.#firstMs * 2 ** Math.min(this.#attempts, 30))
    this.#attempts += 1
    return Math.max(atLeastMs, full * (1 - this.#timers.random() / 2))
  }

  get attempts(): number {
    return this.#attempts
  }

  reset(): void {
    this.#attempts = 0
  }
}
