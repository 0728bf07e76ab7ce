import { displayKey, type ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Thread } from '../../threads/index.js'
import { invalidParams, requiredText } from './params.js'

/** RFC 5424, least to most urgent. */
const LEVELS: readonly unknown[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** Log messages of all servers, down to the level that the client asked for. */
export class LoggingRelay {
  readonly #thread: Thread
  /** Index into LEVELS; nothing is left out until the client sets a level. */
  #least = 0

  constructor(thread: Thread) {
    this.#thread = thread
  }

  async setLevel(params: JsonObject): Promise<JsonObject> {
    const level = requiredText(params, 'level')
    const index = LEVELS.indexOf(level)
    if (index === -1) throw invalidParams(`'level' must be one of ${LEVELS.join(', ')}`)
    await this.#thread.setLogLevel(level)
    this.#least = index
    return {}
  }

  /**
   * A server's message for the client, or undefined when it is below the level: not every server can be told. The logger
   * is named with its server, for two servers may call theirs the same.
   */
  message(key: ServerKey, params: JsonObject): JsonObject | undefined {
    if (!this.wants(params)) return undefined
    const { logger } = params
    return { ...params, logger: typeof logger === 'string' ? `${displayKey(key)}/${logger}` : displayKey(key) }
  }

  /** A level that nobody knows is never too low. */
  wants({ level }: JsonObject): boolean {
    const index = LEVELS.indexOf(level)
    return index === -1 || index >= this.#least
  }
}
