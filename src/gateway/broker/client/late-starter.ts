import type { BrokerPlace } from '../place.js'
import type { BrokerCommand, BrokerStarter } from './start-broker.js'

/**
 * For processes that live long: they may have to start a broker when the files that they came from were replaced by
 * those of another version.
 */
export function loadStarter(): Promise<typeof import('./start-broker.js')> {
  return import('./start-broker.js')
}

/** A starter that is loaded by its first push: most clients find a broker that runs. */
export class LateStarter implements Disposable {
  readonly #place: BrokerPlace
  readonly #how: BrokerCommand
  #starter: BrokerStarter | undefined

  constructor(place: BrokerPlace, how: BrokerCommand) {
    this.#place = place
    this.#how = how
  }

  /** As `BrokerStarter.push`. */
  async push(): Promise<void> {
    if (this.#starter === undefined) {
      const { BrokerStarter } = await loadStarter()
      this.#starter = new BrokerStarter(this.#place, this.#how)
    }
    this.#starter.push()
  }

  [Symbol.dispose](): void {
    this.#starter?.[Symbol.dispose]()
  }
}
