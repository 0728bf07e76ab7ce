import type { ActiveClock } from '../protocol/index.js'

/**
 * The clocks of one holder's calls, on whichever connections, those of older sets included: they stand still together
 * while the holder waits for something that no server knows of.
 */
export class Standstill {
  readonly #clocks = new Set<ActiveClock>()
  #pauses = 0

  /** Nests. Every `pause` needs its `resume`. */
  pause(): void {
    this.#pauses += 1
    if (this.#pauses === 1) for (const clock of this.#clocks) clock.pause()
  }

  resume(): void {
    this.#pauses -= 1
    if (this.#pauses === 0) for (const clock of this.#clocks) clock.resume()
  }

  join(clock: ActiveClock): void {
    this.#clocks.add(clock)
    if (this.#pauses > 0) clock.pause()
  }

  leave(clock: ActiveClock): void {
    if (this.#clocks.delete(clock) && this.#pauses > 0) clock.resume()
  }
}
