import { displayKey, type ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Thread } from '../../threads/index.js'
import { invalidParams, requiredText } from './params.js'

/** RFC 5424, least to most urgent. */
const LEVELS: readonly unknown[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

export function isLogLevel(level: string): boolean {
  return LEVELS.includes(level)
}

/** Whether a message is as urgent as `least`. A level that nobody knows is never too low. */
export function reaches(level: unknown, least: string): boolean {
  const index = LEVELS.indexOf(level)
  return index === -1 || index >= LEVELS.indexOf(least)
}

/** Log messages of all servers, down to the level that the client asked for. */
export class LoggingRelay {
  readonly #thread: Thread
  /** Nothing is left out until the client sets a level. */
  #least = 'debug'

  constructor(thread: Thread) {
    this.#thread = thread
  }

  async setLevel(params: JsonObject): Promise<JsonObject> {
    const level = requiredText(params, 'level')
    if (!isLogLevel(level)) throw invalidParams(`'level' must be one of ${LEVELS.join(', ')}`)
    await this.#thread.setLogLevel(level)
    this.#least = level
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

  wants({ level }: JsonObject): boolean {
    return reaches(level, this.#least)
  }
}
