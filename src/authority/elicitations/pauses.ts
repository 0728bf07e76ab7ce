import { RpcError } from '../../errors.js'
import { RPC } from '../../protocol/index.js'

/** What stands still meanwhile: an `ActiveClock`, or several. */
export interface Pausable {
  pause(): void
  resume(): void
}

export interface PauseState {
  readonly count: number
  readonly paused: boolean
}

/**
 * A host asks somebody something that no server knows of: `thread/increment_elicitation` and its counterpart (reference:
 * authority, 6.6). Time does not count while any of them is open.
 */
export class OutOfBandPauses {
  readonly #clock: Pausable
  #count = 0

  constructor(clock: Pausable) {
    this.#clock = clock
  }

  increment(): PauseState {
    this.#count += 1
    if (this.#count === 1) this.#clock.pause()
    return this.#state()
  }

  /** @throws RpcError when none is open */
  decrement(): PauseState {
    if (this.#count === 0) throw new RpcError(RPC.invalidRequest, 'out-of-band elicitation count is already zero')
    this.#count -= 1
    if (this.#count === 0) this.#clock.resume()
    return this.#state()
  }

  #state(): PauseState {
    return { count: this.#count, paused: this.#count > 0 }
  }
}
