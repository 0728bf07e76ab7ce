import type { FromServer, ReadyClient, ServerStatus } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type JsonObject, RPC } from '../../protocol/index.js'
import { missingCapability } from '../bridge/index.js'
import type { Questions } from '../relay/environment-questions.js'
import { isObject, optionalObject, requiredText } from '../relay/params.js'
import type { RelayOptions } from '../relay/relay-options.js'
import type { BoundCall, ClientTasks, TaskHost } from './client-tasks.js'
import type { OwnedTask, TaskNames } from './names.js'
import { clientOf, requestTask } from './request.js'
import { sift } from './task-questions.js'
import { type CallTracker, WatchedTasks } from './watched-tasks.js'
import {
  declaresExtension,
  runsToolsAsTasks,
  TASKS_EXTENSION,
  taskSupport,
  toExtension,
  withoutRelatedTask,
} from './wire.js'

const REQUIRED: JsonObject = { extensions: { [TASKS_EXTENSION]: {} } }
const ACKNOWLEDGED: JsonObject = Object.freeze({ resultType: 'complete' })

/**
 * Tasks of the extension (SEP-2663) for a modern client. Those of modern servers are relayed. A legacy server makes a task
 * of a call when it is asked to: for a client that declared the extension it is, wherever the tool allows it.
 */
export class ModernClientTasks implements ClientTasks {
  readonly names: TaskNames
  readonly #host: TaskHost
  readonly #declared: boolean
  readonly #watched: WatchedTasks
  readonly #questions: Questions

  /** `track` makes the questions of a task's server find their way; see `PendingCalls`. */
  constructor(host: TaskHost, capabilities: JsonObject, track: CallTracker, questions: Questions) {
    this.names = host.names
    this.#host = host
    this.#declared = declaresExtension(capabilities)
    this.#watched = new WatchedTasks(capabilities, track)
    this.#questions = questions
  }

  /** What a core tool says of tasks is for those who ask for them. */
  listed(server: ServerStatus | undefined, definition: JsonObject): JsonObject {
    if (server === undefined || server.era === 'modern' || !isObject(definition.execution)) return definition
    const { execution, ...listed } = definition
    const { taskSupport: _, ...kept } = execution
    return Object.keys(kept).length === 0 ? listed : { ...listed, execution: kept }
  }

  async call(call: BoundCall): Promise<JsonObject> {
    const { key, client, definition, task, send } = call
    if (client.era === 'modern') return this.#namedResult(key, this.#host.finish(key, 'modern', await send(task)))
    const support = runsToolsAsTasks(client.capabilities) ? taskSupport(definition) : 'forbidden'
    if (support === 'required' && !this.#declared) throw missingCapability(REQUIRED)
    if (support === 'forbidden' || !this.#declared) return this.#host.finish(key, 'legacy', await send(undefined))
    const { task: created, ...result } = await send({})
    if (!isObject(created)) return this.#host.finish(key, 'legacy', result)
    return { ...result, resultType: 'task', ...this.#named(key, toExtension(created)) }
  }

  answer(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> | undefined {
    if (!['tasks/get', 'tasks/update', 'tasks/cancel'].includes(method)) return undefined
    return this.#answer(method, params, options)
  }

  told({ key, method }: Pick<FromServer, 'key' | 'method'>, params: JsonObject): JsonObject {
    return method === 'notifications/tasks' ? this.#namedState(key, params) : withoutRelatedTask(params)
  }

  async #answer(method: string, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    if (!this.#declared) throw missingCapability(REQUIRED)
    const task = this.names.ownerOf(requiredText(params, 'taskId'))
    const client = await clientOf(this.#host.thread, task.key, options)
    const { onBound, ...rest } = options
    await onBound?.(task.key)
    if (client.era === 'modern') {
      const result = await this.#sifted(client, task, await requestTask(client, method, task, params, rest), rest)
      return { resultType: 'complete', ...this.#namedState(task.key, result) }
    }
    if (method === 'tasks/get') return { resultType: 'complete', ...(await this.#state(client, task, rest)) }
    if (method === 'tasks/cancel') return this.#cancel(client, task, rest)
    return this.#update(client, task, params, rest)
  }

  /** What is not the client's to answer is answered here, each time that the server says it still waits for it. */
  async #sifted(client: ReadyClient, task: OwnedTask, state: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const { shown, answers } = await sift(this.#questions, task.key, state)
    if (answers !== undefined) await requestTask(client, 'tasks/update', task, { inputResponses: answers }, options)
    return shown
  }

  /** A legacy server's task, with its result or error once it has one, and its questions while it has some. */
  async #state(client: ReadyClient, task: OwnedTask, options: RelayOptions): Promise<JsonObject> {
    const core = await requestTask(client, 'tasks/get', task, {}, options)
    const found = await this.#watched.look(client, task, core, options)
    const state = this.#named(task.key, toExtension({ ...core, ...found.state }))
    return found.result === undefined
      ? state
      : { ...state, result: withoutRelatedTask(this.#host.finish(task.key, 'legacy', found.result)) }
  }

  async #update(client: ReadyClient, task: OwnedTask, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const answers = optionalObject(params, 'inputResponses') ?? {}
    // Whether it is known at all.
    await requestTask(client, 'tasks/get', task, {}, options)
    this.#watched.answer(task, answers)
    return ACKNOWLEDGED
  }

  /** A task that has ended is refused there, and acknowledged here. */
  async #cancel(client: ReadyClient, task: OwnedTask, options: RelayOptions): Promise<JsonObject> {
    try {
      await requestTask(client, 'tasks/cancel', task, {}, options)
    } catch (error) {
      if (!(error instanceof RpcError) || error.rpcCode !== RPC.invalidParams) throw error
      await requestTask(client, 'tasks/get', task, {}, options)
    }
    this.#watched.forget(task)
    return ACKNOWLEDGED
  }

  #namedResult(key: ServerKey, result: JsonObject): JsonObject {
    return result.resultType === 'task' ? this.#named(key, result) : result
  }

  #namedState(key: ServerKey, state: JsonObject): JsonObject {
    const named = this.#named(key, state)
    return isObject(named.result) ? { ...named, result: this.#host.finish(key, 'modern', named.result) } : named
  }

  #named(key: ServerKey, task: JsonObject): JsonObject {
    return typeof task.taskId === 'string' ? { ...task, taskId: this.names.nameOf({ key, id: task.taskId }) } : task
  }
}

/** @throws RpcError -32021 for a client that did not declare the extension */
export function requireTasks(capabilities: JsonObject): void {
  if (!declaresExtension(capabilities)) throw missingCapability(REQUIRED)
}
