import type { Timers } from './timers.js'

/** Milliseconds before attempt 1, 2, … after a crash; the last one repeats. */
const DELAYS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** Part of a delay that chance may take away or add. */
const JITTER = 0.1
/** Milliseconds; a connection that held this long starts over with the shortest delay. */
const STABLE = 120_000

/** How long a crashed server is left alone before its next start. */
export class Backoff {
  readonly #timers: Timers
  readonly #random: () => number
  #attempts = 0
  #readySince: number | undefined

  /** `random` gives numbers from 0 up to 1. */
  constructor(timers: Timers, random: () => number = Math.random) {
    this.#timers = timers
    this.#random = random
  }

  /** Nothing went wrong since it was last stable. */
  get isFresh(): boolean {
    return this.#attempts === 0 || this.#wasStable
  }

  get #wasStable(): boolean {
    return this.#readySince !== undefined && this.#timers.now() - this.#readySince >= STABLE
  }

  /** The server came up. */
  ready(): void {
    this.#readySince = this.#timers.now()
  }

  /** The server went down, or did not come up again. Returns the delay before the next attempt, in milliseconds. */
  next(): number {
    if (this.#wasStable) this.#attempts = 0
    this.#readySince = undefined
    const delay = DELAYS[Math.min(this.#attempts, DELAYS.length - 1)] ?? 0
    this.#attempts += 1
    return Math.round(delay * (1 - JITTER + 2 * JITTER * this.#random()))
  }
}
