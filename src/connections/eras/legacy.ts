import type { JsonObject } from '../../protocol/index.js'
import type { Caller } from '../in-flight.js'
import type { ServerMessage } from '../session.js'
import type { Dialect, Line, SessionRequestOptions } from './dialect.js'

/** The legacy era: everything goes out and comes in as it is. */
export class LegacyDialect implements Dialect {
  readonly era = 'legacy'
  readonly answersRequests = true
  readonly #line: Line
  readonly #restore: () => Promise<void>

  /** `restore` says again what callers had set up on an earlier session. */
  constructor(line: Line, restore: () => Promise<void>) {
    this.#line = line
    this.#restore = restore
  }

  request(
    method: string,
    params: JsonObject | undefined,
    options: SessionRequestOptions,
    caller?: Caller,
  ): Promise<JsonObject> {
    return this.#line.exchange(method, params, options, caller)
  }

  notify(method: string, params: JsonObject | undefined): Promise<void> {
    return this.#line.tell(method, params)
  }

  heard(message: ServerMessage): ServerMessage {
    return message
  }

  restore(): Promise<void> {
    return this.#restore()
  }

  noted(): void {}

  /** A legacy listing says nothing of how long it holds, so nobody asks. */
  announces(): boolean {
    return true
  }
}
