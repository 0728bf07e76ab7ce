import type { JsonObject, JsonValue } from '../../protocol/index.js'

/** A request of a modern client that waits for its answer, and takes notifications meanwhile. */
export interface WaitingClient {
  /** Fires when the client left or cancelled. */
  readonly signal: AbortSignal
  /** As the request declared them. */
  readonly capabilities: JsonObject
  /** Under which it wants progress; undefined for none. */
  readonly progressToken: JsonValue | undefined
  /** The least level of the log that it wants; undefined for no log. */
  readonly logLevel: string | undefined
  /** Sends a notification on the request's own stream. */
  notify(method: string, params: JsonObject): void
}
