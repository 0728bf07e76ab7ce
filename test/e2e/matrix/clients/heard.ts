import type { JsonObject } from '../../../../src/protocol/index.js'
import { within } from '../bounded.js'

export interface Notification {
  readonly method: string
  readonly params: JsonObject
}

type Matches = (params: JsonObject) => boolean

const ANY: Matches = () => true

/** The notifications of one client, in the order in which they came. */
export class Heard {
  readonly #all: Notification[] = []
  readonly #waiters = new Set<() => void>()

  add(notification: Notification): void {
    this.#all.push(notification)
    for (const wake of [...this.#waiters]) wake()
  }

  /** How many came by now; what comes later is `since` this. */
  get count(): number {
    return this.#all.length
  }

  since(count: number, method?: string): readonly Notification[] {
    return this.#all.slice(count).filter((notification) => method === undefined || notification.method === method)
  }

  /** The params of the first notification after `count` that is of this method and matches. */
  async next(method: string, count: number, matches: Matches = ANY, ms?: number): Promise<JsonObject> {
    const [found] = await this.several(1, method, count, matches, ms)
    return found ?? {}
  }

  /** The params of the first `many`. */
  async several(
    many: number,
    method: string,
    count: number,
    matches: Matches = ANY,
    ms?: number,
  ): Promise<readonly JsonObject[]> {
    let found: JsonObject[] = []
    const come = async () => {
      for (;;) {
        found = this.since(count, method)
          .map(({ params }) => params)
          .filter(matches)
        if (found.length >= many) return found.slice(0, many)
        await new Promise<void>((resolve) => {
          const wake = () => {
            this.#waiters.delete(wake)
            resolve()
          }
          this.#waiters.add(wake)
        })
      }
    }
    return within(`${many} ${method}`, come(), ms).catch((error: unknown) => {
      const others = this.since(count).map((other) => other.method)
      throw new Error(`${String(error)}; heard ${found.length}, and in all ${JSON.stringify(others)}`)
    })
  }
}
