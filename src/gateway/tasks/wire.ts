import { RpcError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type Era, type JsonObject, type JsonValue, RPC } from '../../protocol/index.js'
import { isObject } from '../relay/params.js'

/** Tasks of 2025-11-25 (core) and of the extension `io.modelcontextprotocol/tasks` (SEP-2663). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** Names the task that a message belongs to; core tasks only. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task'

/** What a client that may use core tasks is told. */
export const CORE_TASKS: JsonObject = Object.freeze({ list: {}, cancel: {}, requests: { tools: { call: {} } } })

const TERMINAL: readonly (JsonValue | undefined)[] = ['completed', 'failed', 'cancelled']

export function isTerminal({ status }: JsonObject): boolean {
  return TERMINAL.includes(status)
}

/** A core task as the extension has it: two members were renamed. */
export function toExtension({ ttl, pollInterval, ...task }: JsonObject): JsonObject {
  return { ...task, ttlMs: ttl ?? null, ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }) }
}

export function declaresExtension({ extensions }: JsonObject): boolean {
  return isObject(extensions) && Object.hasOwn(extensions, TASKS_EXTENSION)
}

/** What servers are told of a client for whom this side follows tasks to their end. */
export function withTasksExtension(capabilities: JsonObject): JsonObject {
  const { extensions } = capabilities
  return { ...capabilities, extensions: { ...(isObject(extensions) ? extensions : {}), [TASKS_EXTENSION]: {} } }
}

/** One server's capabilities for a client of the other era, which knows tasks under another name. */
export function tasksFor(client: Era, capabilities: JsonObject): JsonObject {
  const { tasks, extensions, ...rest } = capabilities
  const { [TASKS_EXTENSION]: declared, ...others } = isObject(extensions) ? extensions : {}
  if (client === 'legacy') {
    return { ...rest, ...(extensions !== undefined && { extensions: others }), ...(declared && { tasks: CORE_TASKS }) }
  }
  const offered = runsToolsAsTasks(capabilities) ? { ...others, [TASKS_EXTENSION]: {} } : others
  return { ...rest, ...(Object.keys(offered).length > 0 && { extensions: offered }) }
}

/** Whether a legacy server runs tools as tasks. */
export function runsToolsAsTasks({ tasks }: JsonObject): boolean {
  const requests = isObject(tasks) ? tasks.requests : undefined
  const tools = isObject(requests) ? requests.tools : undefined
  return isObject(tools) && tools.call !== undefined
}

/** What a core tool says of tasks (2025-11-25, tool-level negotiation). */
export function taskSupport({ execution }: JsonObject): 'forbidden' | 'optional' | 'required' {
  const support = isObject(execution) ? execution.taskSupport : undefined
  return support === 'optional' || support === 'required' ? support : 'forbidden'
}

export function withRelatedTask(result: JsonObject, taskId: string): JsonObject {
  const meta = isObject(result._meta) ? result._meta : {}
  return { ...result, _meta: { ...meta, [RELATED_TASK]: { taskId } } }
}

/** Changes the id of the task that a message belongs to, where it names one. */
export function mapRelatedTask(message: JsonObject, map: (taskId: string) => string): JsonObject {
  const meta = message._meta
  const related = isObject(meta) ? meta[RELATED_TASK] : undefined
  if (!isObject(meta) || !isObject(related) || typeof related.taskId !== 'string') return message
  return { ...message, _meta: { ...meta, [RELATED_TASK]: { ...related, taskId: map(related.taskId) } } }
}

/** The id of the task that a message belongs to. */
export function relatedTask(params: JsonObject | undefined): string | undefined {
  const meta = params?._meta
  const related = isObject(meta) ? meta[RELATED_TASK] : undefined
  return isObject(related) && typeof related.taskId === 'string' ? related.taskId : undefined
}

export function withoutRelatedTask(message: JsonObject): JsonObject {
  const meta = message._meta
  if (!isObject(meta) || !Object.hasOwn(meta, RELATED_TASK)) return message
  const { [RELATED_TASK]: _, ...kept } = meta
  const { _meta, ...rest } = message
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept }
}

/** The error that a task of the extension failed with. */
export function taskError(error: JsonValue | undefined, key: ServerKey): RpcError {
  const { code, message, data } = isObject(error) ? error : {}
  return new RpcError(
    typeof code === 'number' ? code : RPC.internalError,
    typeof message === 'string' ? message : 'The task failed',
    data,
    key,
  )
}

export function errorObject({ rpcCode, message, rpcData }: RpcError): JsonObject {
  return { code: rpcCode, message, ...(rpcData !== undefined && { data: rpcData as JsonValue }) }
}
