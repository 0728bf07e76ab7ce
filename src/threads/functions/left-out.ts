import type { ReeveError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import type { ThreadEvent } from '../types.js'

/**
 * Tells of the servers that listings over all servers leave out: once a server, method and reason, and again only after
 * it was well. For one thread.
 */
export class LeftOut {
  readonly #told = new Map<string, string>()
  readonly #tell: (event: ThreadEvent) => void

  constructor(tell: (event: ThreadEvent) => void) {
    this.#tell = tell
  }

  report(key: ServerKey, method: string, { code, message }: ReeveError): void {
    const place = placeOf(key, method)
    if (this.#told.get(place) === message) return
    this.#told.set(place, message)
    this.#tell({ type: 'warning', key, code, message: `left out of ${method}: ${message}` })
  }

  isWell(key: ServerKey, method: string): void {
    this.#told.delete(placeOf(key, method))
  }
}

function placeOf({ name, environment }: ServerKey, method: string): string {
  return JSON.stringify([name, environment, method])
}
