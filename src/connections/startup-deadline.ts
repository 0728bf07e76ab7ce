import { StartupTimeoutError } from '../errors.js'
import { abortError } from './abort.js'
import type { Timers } from './timers.js'

export type StartupPhase = 'opening' | 'handshake' | 'listing'

/**
 * One deadline over a whole startup: opening, handshake, retries and listing together take no longer than the
 * configured time. Wall clock.
 */
export class StartupDeadline {
  readonly #abort = new AbortController()
  readonly #stop: () => void
  phase: StartupPhase = 'opening'

  constructor(timers: Timers, ms: number, outer: AbortSignal) {
    const timer = timers.after(ms, () => this.#abort.abort(new StartupTimeoutError(this.phase, ms)))
    const onAbort = () => this.#abort.abort(abortError(outer))
    if (outer.aborted) onAbort()
    else outer.addEventListener('abort', onAbort, { once: true })
    this.#stop = () => {
      timer.cancel()
      outer.removeEventListener('abort', onAbort)
    }
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  dispose(): void {
    this.#stop()
  }
}
