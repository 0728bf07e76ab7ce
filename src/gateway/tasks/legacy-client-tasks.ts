import type { FromServer, ServerRequestHandler, ServerStatus } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import { type ServerKey, sameKey } from '../../identity/index.js'
import { type JsonObject, RPC } from '../../protocol/index.js'
import { pageAt } from '../relay/pages.js'
import { isObject, optionalText, requiredText } from '../relay/params.js'
import type { RelayOptions } from '../relay/relay-options.js'
import type { BoundCall, ClientTasks, TaskHost } from './client-tasks.js'
import { driveTask } from './drive.js'
import { listTasks } from './list-tasks.js'
import { LocalTask } from './local-task.js'
import { LocalTasks } from './local-tasks.js'
import type { TaskNames } from './names.js'
import { clientOf, requestTask } from './request.js'
import { declaresExtension, mapRelatedTask } from './wire.js'

/**
 * Core tasks (2025-11-25) for a legacy client. Those of legacy servers are relayed. A modern server decides itself what
 * becomes a task: what the client wants as one is run here as one, and what the server makes one is followed to its end.
 */
export class LegacyClientTasks implements ClientTasks {
  readonly names: TaskNames
  readonly #host: TaskHost
  readonly #ask: ServerRequestHandler
  readonly #local: LocalTasks

  /** `ask` hands a question to the client, on the stream of the request that is its origin. */
  constructor(host: TaskHost, ask: ServerRequestHandler) {
    this.names = host.names
    this.#host = host
    this.#ask = ask
    this.#local = new LocalTasks(ask)
  }

  listed(server: ServerStatus | undefined, definition: JsonObject): JsonObject {
    if (server === undefined || server.era === 'legacy' || !hasExtensionsTasks(server)) return definition
    return { ...definition, execution: { taskSupport: 'optional' } }
  }

  call(call: BoundCall): Promise<JsonObject> {
    if (call.client.era === 'legacy') return this.#callLegacy(call)
    return call.task === undefined ? this.#callThrough(call) : this.#callAsTask(call)
  }

  answer(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> | undefined {
    if (method === 'tasks/list') return this.#list(params, options)
    if (!['tasks/get', 'tasks/result', 'tasks/cancel'].includes(method)) return undefined
    const local = this.#local.get(requiredText(params, 'taskId'))
    return local === undefined ? this.#relay(method, params, options) : answerLocally(local, method, options)
  }

  told({ key, method }: Pick<FromServer, 'key' | 'method'>, params: JsonObject): JsonObject {
    const named = mapRelatedTask(params, (id) => this.names.nameOf({ key, id }))
    return method === 'notifications/tasks/status' ? this.#named(key, named) : named
  }

  async #callLegacy({ key, task, send }: BoundCall): Promise<JsonObject> {
    const result = this.told({ key, method: 'tools/call' }, this.#host.finish(key, 'legacy', await send(task)))
    return task !== undefined && isObject(result.task) ? { ...result, task: this.#named(key, result.task) } : result
  }

  async #callThrough(call: BoundCall): Promise<JsonObject> {
    const { key, options, send } = call
    const result = await send(undefined)
    return this.#host.finish(key, 'modern', await this.#followed(call, result, options))
  }

  async #callAsTask(call: BoundCall): Promise<JsonObject> {
    const { key, client, task, options, send } = call
    if (!declaresExtension(client.capabilities)) {
      throw new RpcError(RPC.methodNotFound, 'The server of this tool has no tasks: call it without')
    }
    const local = this.#local.start(task, async (running) => {
      const over = { ...options, signal: running.signal, origin: running }
      const result = await send(undefined, over)
      return this.#host.finish(key, 'modern', await this.#followed(call, result, over))
    })
    return { task: local.shown }
  }

  /** The result itself, once there is one. */
  async #followed({ key, client }: BoundCall, result: JsonObject, options: RelayOptions): Promise<JsonObject> {
    if (result.resultType !== 'task') return result
    const { origin, signal = new AbortController().signal } = options
    const ask: ServerRequestHandler = origin instanceof LocalTask ? (...asked) => origin.ask(...asked) : this.#ask
    return driveTask({ client, key, id: requiredText(result, 'taskId'), signal, origin, ask })
  }

  async #relay(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const task = this.names.ownerOf(requiredText(params, 'taskId'))
    const client = await clientOf(this.#host.thread, task.key, options)
    const { onBound, ...rest } = options
    await onBound?.(task.key)
    const result = await requestTask(client, method, task, params, rest)
    if (method !== 'tasks/result') return this.#named(task.key, result)
    return this.told({ key: task.key, method }, this.#host.finish(task.key, client.era, result))
  }

  async #list(params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const all = await listTasks(this.#host.thread, options)
    const theirs = all.filter(({ key, task }) => this.names.isForeign?.({ key, id: String(task.taskId) }) !== true)
    const tasks = [...this.#local.shown, ...theirs.map(({ key, task }) => this.#named(key, task))]
    const listed = tasks.map((wire) => ({ name: String(wire.taskId), wire, size: JSON.stringify(wire).length }))
    const { items, nextCursor } = pageAt(listed, optionalText(params, 'cursor'))
    return { tasks: items.map(({ wire }) => wire), ...(nextCursor !== undefined && { nextCursor }) }
  }

  #named(key: ServerKey, task: JsonObject): JsonObject {
    return typeof task.taskId === 'string' ? { ...task, taskId: this.names.nameOf({ key, id: task.taskId }) } : task
  }
}

/** One that is not up, and of which only the tools are known, is taken for what it declared last. */
function hasExtensionsTasks({ era, capabilities = {} }: ServerStatus): boolean {
  return declaresExtension(capabilities) && (era === 'modern' || capabilities.tasks === undefined)
}

async function answerLocally(task: LocalTask, method: string, options: RelayOptions): Promise<JsonObject> {
  if (method === 'tasks/result') return task.result(options.origin, options.signal)
  if (method === 'tasks/cancel') task.cancel()
  return task.shown
}

/** The server's own id for a task that a client named in an answer to it. */
export function rawTaskId(names: TaskNames, key: ServerKey, name: string): string {
  try {
    const owned = names.ownerOf(name)
    return sameKey(owned.key, key) ? owned.id : name
  } catch (error) {
    if (error instanceof RpcError) return name
    throw error
  }
}
