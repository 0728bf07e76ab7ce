import type { JsonObject } from '../../protocol/index.js'
import type { LiveCall } from './live-call.js'

/** A call to a server with what makes its answers those of this gateway. */
export interface Conversation {
  readonly call: LiveCall
  /** Adds to an answer what every answer carries. */
  finish(result: JsonObject): JsonObject
}
