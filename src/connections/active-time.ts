/**
 * How long a connection has been at work for its callers: time in which it answers a question of its server does not
 * count, however many questions are open at once (reference: connections, 10.11).
 */
export class ActiveTime {
  readonly #now: () => number
  #pauses = 0
  #pausedAt = 0
  #pausedTotal = 0

  /** `now` in milliseconds, never going back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  now(): number {
    return (this.#pauses > 0 ? this.#pausedAt : this.#now()) - this.#pausedTotal
  }

  pause(): void {
    if (this.#pauses === 0) this.#pausedAt = this.#now()
    this.#pauses += 1
  }

  resume(): void {
    this.#pauses -= 1
    if (this.#pauses === 0) this.#pausedTotal += this.#now() - this.#pausedAt
  }
}
