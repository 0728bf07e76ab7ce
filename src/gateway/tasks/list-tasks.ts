import type { ReadyClient } from '../../connections/index.js'
import { compareSerialised, type ServerKey } from '../../identity/index.js'
import { type JsonObject, LIMITS } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import { isObject } from '../relay/params.js'
import { clientOf } from './request.js'

const LIST_TIMEOUT = 30_000

export interface ServersTask {
  readonly key: ServerKey
  readonly task: JsonObject
}

/** The tasks of all legacy servers that are up and list theirs; one that fails hides no other. */
export async function listTasks(thread: Thread, { signal }: CallOptions): Promise<readonly ServersTask[]> {
  const keys = thread
    .servers()
    .filter(({ era, capabilities }) => era === 'legacy' && isObject(capabilities?.tasks) && capabilities.tasks.list)
    .map(({ key }) => key)
    .sort(compareSerialised)
  const listed = await Promise.allSettled(
    keys.map(async (key) => {
      const client = await clientOf(thread, key, { ...(signal && { signal }) })
      return (await everyPage(client, signal)).map((task) => ({ key, task }))
    }),
  )
  signal?.throwIfAborted()
  return listed.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
}

async function everyPage(client: ReadyClient, signal: AbortSignal | undefined): Promise<readonly JsonObject[]> {
  const tasks: JsonObject[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < LIMITS.listPages && tasks.length < LIMITS.listItems; page += 1) {
    const params: JsonObject = cursor === undefined ? {} : { cursor }
    const result = await client.request('tasks/list', params, { timeoutMs: LIST_TIMEOUT, ...(signal && { signal }) })
    if (Array.isArray(result.tasks)) tasks.push(...result.tasks.filter(isObject))
    const next = result.nextCursor
    if (typeof next !== 'string' || seen.has(next)) break
    seen.add(next)
    cursor = next
  }
  return tasks
}
