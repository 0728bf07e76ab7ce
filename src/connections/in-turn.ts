import { orAborted } from './abort.js'

/** Runs pieces of work one after the other, in the order in which they came. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve()

  /** The outcome of `work`, once everything before it is over; waits no longer than the signal allows. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const outcome = this.#last.then(work)
    this.#last = outcome.catch(() => undefined)
    return orAborted(outcome, signal)
  }
}
