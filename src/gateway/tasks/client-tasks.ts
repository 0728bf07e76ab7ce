import type { FromServer, ReadyClient, ServerStatus } from '../../connections/index.js'
import type { ServerKey } from '../../identity/index.js'
import type { Era, JsonObject, JsonValue } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import type { RelayOptions } from '../relay/relay-options.js'
import type { TaskNames } from './names.js'

/** What tasks need of the relay that they belong to. */
export interface TaskHost {
  readonly thread: Thread
  readonly names: TaskNames
  /** A server's `CallToolResult` as this client sees it: its URIs, and the form of its era. */
  finish(key: ServerKey, server: Era, result: JsonObject): JsonObject
}

/** One `tools/call`, bound to its server and not sent yet. */
export interface BoundCall {
  readonly key: ServerKey
  readonly client: ReadyClient
  readonly definition: JsonObject
  /** The member `task` of the client's params. */
  readonly task: JsonValue | undefined
  readonly options: RelayOptions
  /** Sends it, with this member `task` or without; `over` takes the place of the client's own options. */
  send(task: JsonValue | undefined, over?: CallOptions): Promise<JsonObject>
}

/** Tasks as one client uses them, whichever era its servers speak. */
export interface ClientTasks {
  readonly names: TaskNames
  /** A tool's definition for this client. */
  listed(server: ServerStatus | undefined, definition: JsonObject): JsonObject
  /** Calls a tool; the result is the client's, whether it is one or a task. */
  call(call: BoundCall): Promise<JsonObject>
  /** Answers `tasks/*`; undefined for a method that this client's era does not have. */
  answer(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> | undefined
  /** Params of a message of a server, with the tasks in it under the client's names. */
  told(message: Pick<FromServer, 'key' | 'method'>, params: JsonObject): JsonObject
}
