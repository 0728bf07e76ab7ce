import type { OpenedState } from './request-state.js'
import { keptInMemory, type StateKeeping } from './state-keeping.js'

/** A state while the request that brought it is being answered. */
export interface Claim {
  /** It has served its purpose, and serves no other. */
  spend(): void
  /** Nothing came of it: the client left before it was answered, and may try again. */
  release(): void
}

/**
 * Lets each state be used once. What is remembered is bounded: when it gets too much, the oldest states count as used,
 * rather than as never seen.
 */
export class UsedStates {
  readonly #now: () => number
  readonly #limit: number
  readonly #keeping: StateKeeping
  readonly #used = new Map<string, OpenedState>()
  /** States issued up to then were forgotten. */
  #forgotten = 0

  constructor(now: () => number = Date.now, limit = 100_000, keeping: StateKeeping = keptInMemory()) {
    this.#now = now
    this.#limit = limit
    this.#keeping = keeping
  }

  /** Undefined for a state that is in use, or was. */
  claim(state: OpenedState): Claim | undefined {
    if (state.issuedAt <= this.#forgotten || this.#used.has(state.id)) return undefined
    // A call that is held is of this process, and leaves it once.
    const isKept = state.content.kind !== 'held'
    if (isKept && !this.#keeping.use(state.id)) return undefined
    this.#forget()
    this.#used.set(state.id, state)
    let released = false
    return {
      spend: () => {
        released = true
      },
      release: () => {
        if (released) return
        this.#used.delete(state.id)
        if (isKept) this.#keeping.giveBack(state.id)
      },
    }
  }

  #forget(): void {
    for (const [id, { expiresAt, issuedAt }] of this.#used) {
      const expired = expiresAt <= this.#now()
      if (!expired && this.#used.size < this.#limit) return
      if (!expired) this.#forgotten = Math.max(this.#forgotten, issuedAt)
      this.#used.delete(id)
    }
  }
}
