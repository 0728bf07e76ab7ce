import { StaleCatalogError } from '../../../errors.js'
import { serverKey } from '../../../identity/index.js'
import type { Step } from '../../../threads/index.js'
import { BROKER_LIMITS } from '../wire/limits.js'

/** The steps that a client took and may still call. Of too many the oldest is forgotten: it is long out of date. */
export class StepShelf {
  readonly #steps = new Map<number, Step>()
  #last = 0

  add(step: Step): number {
    this.#last += 1
    this.#steps.set(this.#last, step)
    const [oldest] = this.#steps.keys()
    if (this.#steps.size > BROKER_LIMITS.steps && oldest !== undefined) this.#steps.delete(oldest)
    return this.#last
  }

  /** @throws StaleCatalogError when it was forgotten */
  get(number: unknown): Step {
    const step = typeof number === 'number' ? this.#steps.get(number) : undefined
    if (step === undefined) throw new StaleCatalogError(serverKey('broker'), `step ${String(number)}`)
    return step
  }
}
