import type { HttpResponse } from '../../environments/index.js'
import type { Timers } from './timers.js'

/** How long a response stream may stay open behind its answer. The specification wants it closed. */
const PATIENCE = 2000

/** Streams that have given their answer. They are read to their end, so that their connections can be used again. */
export class Lingering {
  readonly #timers: Timers
  readonly #open = new Set<HttpResponse>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** `rest` is the reading of the stream; how it ends no longer matters to anybody. */
  add(response: HttpResponse, rest: Promise<void>): void {
    this.#open.add(response)
    const stopWaiting = this.#timers.after(PATIENCE, () => response.cancel())
    const done = () => {
      stopWaiting()
      this.#open.delete(response)
    }
    rest.then(done, done)
  }

  cancelAll(): void {
    for (const response of [...this.#open]) response.cancel()
  }
}
