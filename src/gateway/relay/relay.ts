import type { FromServer } from '../../connections/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'

/** Everything that a client asks of its thread, and what its servers say, in the names that this client knows. */
export interface Relay {
  readonly thread: Thread
  /** @throws RpcError -32601 for a method that nobody here has. */
  answer(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject>
  /** The params of a server's notification for this client; undefined when it does not want to hear it. */
  told(notification: FromServer): JsonObject | undefined
  /** A notification of the client that is none of this side's. */
  notified(method: string, params: JsonObject | undefined): void
}
