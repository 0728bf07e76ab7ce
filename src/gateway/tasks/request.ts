import type { ReadyClient } from '../../connections/index.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import { outgoingMeta } from '../relay/call-meta.js'
import { optionalObject } from '../relay/params.js'
import type { OwnedTask } from './names.js'

/** Milliseconds for a request about a task; waiting for its result takes as long as it takes. */
const TASK_REQUEST_TIMEOUT = 60_000

export async function clientOf(thread: Thread, key: ServerKey, options: CallOptions): Promise<ReadyClient> {
  const { client } = await thread.client({ server: key.name, environment: key.environment }, options)
  return client
}

/** Sends a request about a task to its server, under the server's own id and with whatever else the client said. */
export function requestTask(
  client: ReadyClient,
  method: string,
  { id }: OwnedTask,
  params: JsonObject,
  options: CallOptions,
): Promise<JsonObject> {
  const { _meta, ...rest } = params
  const meta = outgoingMeta(optionalObject(params, '_meta'))
  const { params: _, ...requestOptions } = options
  const bound = method === 'tasks/result' ? {} : { timeoutMs: TASK_REQUEST_TIMEOUT }
  return client.request(method, { ...rest, taskId: id, ...(meta && { _meta: meta }) }, { ...bound, ...requestOptions })
}
