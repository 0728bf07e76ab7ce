/**
 * Time that stops while the other side waits for us. One clock per connection: a server that asks its user something in
 * the middle of a call must not run that call, or its neighbours, into their timeouts (reference: connections, 10.11).
 */
export class ActiveClock {
  readonly #now: () => number
  readonly #watchers = new Set<Deadline>()
  #pauses = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get paused(): boolean {
    return this.#pauses > 0
  }

  now(): number {
    return this.#now()
  }

  /** Nests. Every `pause` needs its `resume`. */
  pause(): void {
    this.#pauses += 1
    if (this.#pauses === 1) for (const deadline of this.#watchers) deadline.hold()
  }

  resume(): void {
    this.#pauses -= 1
    if (this.#pauses === 0) for (const deadline of this.#watchers) deadline.run()
  }

  /** Calls `expired` once after `ms` of running time, unless disposed before. */
  deadline(ms: number, expired: () => void): Deadline {
    return new Deadline(this, this.#watchers, ms, expired)
  }
}

export class Deadline {
  readonly #clock: ActiveClock
  readonly #watchers: Set<Deadline>
  readonly #expired: () => void
  #left: number
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(clock: ActiveClock, watchers: Set<Deadline>, ms: number, expired: () => void) {
    this.#clock = clock
    this.#watchers = watchers
    this.#left = ms
    this.#expired = expired
    watchers.add(this)
    if (!clock.paused) this.run()
  }

  hold(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#left -= this.#clock.now() - this.#since
  }

  run(): void {
    this.#since = this.#clock.now()
    this.#timer = setTimeout(
      () => {
        this.dispose()
        this.#expired()
      },
      Math.min(Math.max(0, this.#left), LONGEST_TIMER),
    )
  }

  dispose(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#watchers.delete(this)
  }
}

/** Node turns longer timers into 1 ms. */
const LONGEST_TIMER = 2 ** 31 - 1
