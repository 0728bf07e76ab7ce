import type { FromServer } from '../../connections/index.js'
import type { Era, JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import type { ClientTasks } from '../tasks/index.js'
import type { OwnedUri } from '../uris.js'
import type { RelayOptions } from './relay-options.js'

/** Everything that a client asks of its thread, and what its servers say, in the names and the era of this client. */
export interface Relay {
  /** Of the client. */
  readonly era: Era
  readonly thread: Thread
  readonly tasks: ClientTasks
  /** @throws RpcError -32601 for a method that nobody here has. */
  answer(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject>
  /** The server and its own URI, of one that the client gave. @throws RpcError -32602 when it could be anybody's. */
  ownerOf(uri: string, options: CallOptions): Promise<OwnedUri>
  /** The name by which this client knows a server's URI, unless it used another one. */
  uriOf(owned: OwnedUri): string
  /** The params of a server's notification for this client; undefined when it does not want to hear it. */
  told(notification: FromServer): JsonObject | undefined
  /** A notification of the client that is none of this side's. */
  notified(method: string, params: JsonObject | undefined): void
}
