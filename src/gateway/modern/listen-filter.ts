import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { invalidParams, isObject } from '../relay/params.js'
import type { ChangedList } from './ears.js'

/** What a client wants to hear of on one stream (specification 2026-07-28, subscriptions). */
export interface ListenFilter {
  readonly lists: readonly ChangedList[]
  readonly uris: readonly string[]
  /** Of the extension `io.modelcontextprotocol/tasks`. */
  readonly taskIds: readonly string[]
}

export const LIST_MEMBERS: Readonly<Record<ChangedList, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
}

const LISTS: readonly ChangedList[] = ['tools', 'prompts', 'resources']

/** @throws RpcError -32602 for a filter that is none, or names more than `limit` things */
export function readFilter(params: JsonObject, limit: number): ListenFilter {
  const { notifications } = params
  if (!isObject(notifications)) throw invalidParams("'notifications' must be an object")
  return {
    lists: LISTS.filter((list) => flag(notifications, LIST_MEMBERS[list])),
    uris: texts(notifications, 'resourceSubscriptions', limit),
    taskIds: texts(notifications, 'taskIds', limit),
  }
}

/** Of the lists, those that this side tells of changes in. */
export function announced(lists: readonly ChangedList[], capabilities: JsonObject): readonly ChangedList[] {
  return lists.filter((list) => {
    const capability = capabilities[list]
    return isObject(capability) && capability.listChanged === true
  })
}

function flag(notifications: JsonObject, member: string): boolean {
  const value = notifications[member]
  if (value !== undefined && typeof value !== 'boolean') throw invalidParams(`'${member}' must be a boolean`)
  return value === true
}

function texts(notifications: JsonObject, member: string, limit: number): readonly string[] {
  const value = notifications[member] ?? []
  const wrong = () => invalidParams(`'${member}' must be an array of at most ${limit} strings`)
  if (!Array.isArray(value) || value.length > limit) throw wrong()
  return [...new Set(value.map((item: JsonValue) => (typeof item === 'string' ? item : raise(wrong()))))]
}

function raise(error: Error): never {
  throw error
}
