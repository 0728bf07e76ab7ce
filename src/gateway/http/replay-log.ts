/**
 * The last events of a session's streams, for clients that come back with `Last-Event-ID`. Bounded over all streams
 * together: the oldest events go first, whichever stream they belong to, and the newest always stays.
 */
export class ReplayLog {
  readonly #limit: number
  readonly #events: LoggedEvent[] = []
  #first = 0
  #bytes = 0

  /** @param limit Bytes, counted as UTF-16 units. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get bytes(): number {
    return this.#bytes
  }

  add(event: LoggedEvent): void {
    this.#events.push(event)
    this.#bytes += event.frame.length
    while (this.#bytes > this.#limit && this.#events.length - this.#first > 1) this.#dropOldest()
  }

  /** Frames of one stream behind `sequence`, oldest first. Events that were dropped are missing. */
  after(stream: number, sequence: number): LoggedEvent[] {
    return this.#events.slice(this.#first).filter((event) => event.stream === stream && event.sequence > sequence)
  }

  #dropOldest(): void {
    const event = this.#events[this.#first]
    this.#first += 1
    this.#bytes -= event?.frame.length ?? 0
    // Cut in halves: removing one by one from the front would copy the array each time.
    if (this.#first * 2 > this.#events.length) {
      this.#events.splice(0, this.#first)
      this.#first = 0
    }
  }
}

export interface LoggedEvent {
  readonly stream: number
  readonly sequence: number
  readonly frame: string
}
