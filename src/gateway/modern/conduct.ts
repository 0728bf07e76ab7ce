import { type ServerKey, ServerKeyMap } from '../../identity/index.js'

/** What one server did up to now. */
export interface Conduct {
  asks: boolean
  /** It asked in a way that did not say which call that was for. */
  isVague: boolean
  calls: number
}

/** How servers were seen to behave, for whichever client: a server that asks one of them asks the next one too. */
export class Conducts {
  readonly #byKey = new ServerKeyMap<Conduct>()

  of(key: ServerKey): Conduct {
    const known = this.#byKey.get(key) ?? { asks: false, isVague: false, calls: 0 }
    this.#byKey.set(key, known)
    return known
  }
}
