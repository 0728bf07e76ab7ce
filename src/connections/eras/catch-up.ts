import type { InventoryPart } from '../inventory-listing.js'
import type { Timer, Timers } from '../timers.js'

/** Milliseconds between two listings that are only due because nobody listened for a while. */
const APART = 60_000

/**
 * After a time in which nobody listened, the listings may be of yesterday. They are due then, but a server that ends
 * its streams again and again must not be listed each time.
 */
export class CatchUp {
  readonly #timers: Timers
  readonly #due: (lists: ReadonlySet<InventoryPart>) => void
  #last = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined

  constructor(timers: Timers, due: (lists: ReadonlySet<InventoryPart>) => void) {
    this.#timers = timers
    this.#due = due
  }

  on(lists: ReadonlySet<InventoryPart>): void {
    if (this.#timer !== undefined || lists.size === 0) return
    const wait = Math.max(0, this.#last + APART - this.#timers.now())
    const run = () => {
      this.#timer = undefined
      this.#last = this.#timers.now()
      this.#due(lists)
    }
    this.#timer = this.#timers.after(wait, run, { background: true })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
