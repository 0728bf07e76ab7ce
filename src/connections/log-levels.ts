import type { JsonObject, JsonValue } from '../protocol/index.js'
import { InTurn } from './in-turn.js'
import type { ConnectionRoute } from './route.js'

/** RFC 5424, most to least verbose. */
const LEVELS: readonly unknown[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
/** What a holder counts as that never asked for a level, once another one has. */
const UNASKED = LEVELS.indexOf('info')

/** Sends a level to the server. */
export type SendLevel = (level: string) => Promise<JsonObject>

/** The log level of one server for several holders: it is asked for the most verbose, and each hears its own. */
export class LogLevels {
  readonly #asked = new Map<ConnectionRoute, number>()
  readonly #line = new InTurn()
  /** What the server was told last. */
  #told: number | undefined

  static knows(level: JsonValue | undefined): level is string {
    return LEVELS.includes(level)
  }

  /** Whether a message is as urgent as `least`. A level that nobody knows is never too low; no least wants nothing. */
  static reaches(level: JsonValue | undefined, least: string | undefined): boolean {
    const index = LEVELS.indexOf(level)
    return least !== undefined && (index === -1 || index >= LEVELS.indexOf(least))
  }

  /** Somebody asked for a level. */
  get isAsked(): boolean {
    return this.#asked.size > 0
  }

  /** The level that a holder asked for. */
  of(route: ConnectionRoute): string | undefined {
    const asked = this.#asked.get(route)
    return asked === undefined ? undefined : String(LEVELS[asked])
  }

  /** `holders` are all that listen. */
  set(
    route: ConnectionRoute,
    level: string,
    holders: Iterable<ConnectionRoute>,
    send: SendLevel,
    signal?: AbortSignal,
  ): Promise<JsonObject> {
    return this.#line.run(async () => {
      const before = this.#asked.get(route)
      this.#asked.set(route, LEVELS.indexOf(level))
      try {
        return await this.#tell(holders, send)
      } catch (error) {
        if (before === undefined) this.#asked.delete(route)
        else this.#asked.set(route, before)
        throw error
      }
    }, signal)
  }

  left(route: ConnectionRoute): void {
    this.#asked.delete(route)
  }

  /** Holders came or went: tells the server when that changed what they want together. */
  async adjust(holders: ReadonlySet<ConnectionRoute>, send: SendLevel): Promise<void> {
    if (this.#told === undefined) return
    await this.#line.run(async () => {
      if (holders.size > 0) await this.#tell(holders, send)
    })
  }

  /** Whether a holder hears a message: not when only others asked for so much. */
  hears(route: ConnectionRoute, level: JsonValue | undefined): boolean {
    const own = this.#asked.get(route) ?? UNASKED
    const index = LEVELS.indexOf(level)
    return this.#told === undefined || this.#told >= own || index === -1 || index >= own
  }

  async #tell(holders: Iterable<ConnectionRoute>, send: SendLevel): Promise<JsonObject> {
    const wanted = Math.min(...[...holders].map((holder) => this.#asked.get(holder) ?? UNASKED))
    if (wanted === this.#told) return {}
    const answer = await send(String(LEVELS[wanted]))
    this.#told = wanted
    return answer
  }
}
