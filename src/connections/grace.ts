import { pause, type Timers } from './timers.js'

/**
 * The time that optional servers of one set get, together: it runs from the first capture that has to wait, and is not
 * given again (reference: connections, 7.2).
 */
export class Grace {
  readonly #timers: Timers
  readonly #ms: number
  #deadline: number | undefined

  /** `ms` 0 means to wait for the end of each startup. */
  constructor(timers: Timers, ms: number) {
    this.#timers = timers
    this.#ms = ms
  }

  /** Waits for `work`, but not beyond the deadline. Rejects only when `work` does. */
  async wait(work: Promise<unknown>): Promise<void> {
    if (this.#ms === 0) {
      await work
      return
    }
    this.#deadline ??= this.#timers.now() + this.#ms
    const left = this.#deadline - this.#timers.now()
    if (left <= 0) return
    const over = new AbortController()
    try {
      await Promise.race([work, pause(this.#timers, left, over.signal)])
    } finally {
      over.abort()
    }
  }
}
