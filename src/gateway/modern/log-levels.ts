import { keyText, type ServerKey, sameKey } from '../../identity/index.js'
import type { Thread } from '../../threads/index.js'
import { reaches } from '../relay/logging.js'
import { isObject } from '../relay/params.js'

/** Milliseconds that a request waits for its server to take a log level. */
const SETTING_TIMEOUT = 2000

interface Level {
  readonly level: string
  readonly set: Promise<void>
}

/**
 * The log levels of legacy servers, which have one for everything, for clients that name one with each request: as low
 * as any request needed it yet. What a request did not ask for is left out on the way back.
 */
export class LogLevels {
  readonly #thread: Thread
  readonly #onFault: (error: unknown) => void
  readonly #lowest = new Map<string, Level>()

  constructor(thread: Thread, onFault: (error: unknown) => void) {
    this.#thread = thread
    this.#onFault = onFault
  }

  /** Resolves once the server logs down to `level`, or did not take it. Modern servers are told with each request. */
  async lower(key: ServerKey, level: string): Promise<void> {
    const row = this.#thread.servers().find((server) => sameKey(server.key, key))
    if (row?.era !== 'legacy' || !isObject(row.capabilities?.logging)) return
    const known = this.#lowest.get(keyText(key))
    if (known !== undefined && reaches(level, known.level)) return known.set
    const set = this.#set(key, level).catch(this.#onFault)
    this.#lowest.set(keyText(key), { level, set })
    await set
  }

  async #set(key: ServerKey, level: string): Promise<void> {
    const signal = AbortSignal.timeout(SETTING_TIMEOUT)
    const { client } = await this.#thread.client({ server: key.name, environment: key.environment }, { signal })
    await client.request('logging/setLevel', { level }, { signal })
  }
}
