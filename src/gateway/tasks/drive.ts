import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadyClient, ServerRequestHandler } from '../../connections/index.js'
import { CancelledError, RpcError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type JsonObject, RPC } from '../../protocol/index.js'
import { isObject } from '../relay/params.js'
import { requestTask } from './request.js'
import { taskError } from './wire.js'

/** Milliseconds between two looks at a task, whatever its server suggests. */
const POLL = { least: 50, usual: 1000, most: 30_000 }

export interface DrivenTask {
  readonly client: ReadyClient
  readonly key: ServerKey
  /** As its server knows it. */
  readonly id: string
  /** Fires when nobody wants the result any more: then the task is cancelled. */
  readonly signal: AbortSignal
  readonly origin: unknown
  readonly ask: ServerRequestHandler
}

/**
 * Follows a task of the extension to its end, for a client that expects a result: looks at it again and again, and asks
 * the client what the task asks. Resolves to the result of the request that it was made for.
 *
 * @throws RpcError that the task failed with, or -32603 when it was cancelled
 */
export async function driveTask(task: DrivenTask): Promise<JsonObject> {
  const answered = new Set<string>()
  try {
    for (;;) {
      const state = await requestTask(task.client, 'tasks/get', task, {}, { signal: task.signal })
      if (state.status === 'completed') return isObject(state.result) ? state.result : {}
      if (state.status === 'failed') throw taskError(state.error, task.key)
      if (state.status === 'cancelled') throw new RpcError(RPC.internalError, 'The task was cancelled', {}, task.key)
      if (state.status === 'input_required') await answerQuestions(task, state.inputRequests, answered)
      await sleep(pauseOf(state), undefined, { signal: task.signal })
    }
  } catch (error) {
    if (task.signal.aborted || isOurs(error)) await cancelQuietly(task)
    throw task.signal.aborted ? new CancelledError() : error
  }
}

/** Each question once: a server may show it until it has read the answer. */
async function answerQuestions(
  task: DrivenTask,
  requests: JsonObject[string] | undefined,
  answered: Set<string>,
): Promise<void> {
  const open = Object.entries(isObject(requests) ? requests : {}).filter(([name]) => !answered.has(name))
  const answers = await Promise.all(open.map(async ([name, request]) => [name, await answerTo(task, request)] as const))
  if (answers.length === 0) return
  for (const [name] of answers) answered.add(name)
  const inputResponses = Object.fromEntries(answers)
  await requestTask(task.client, 'tasks/update', task, { inputResponses }, { signal: task.signal })
}

function answerTo(
  { key, origin, ask, signal }: DrivenTask,
  request: JsonObject[string] | undefined,
): Promise<JsonObject> {
  const { method, params } = isObject(request) ? request : {}
  if (typeof method !== 'string') throw new RpcError(RPC.internalError, 'The task asks for nothing that is known')
  return ask({ key, method, params: isObject(params) ? params : undefined, origin }, signal)
}

function pauseOf({ pollIntervalMs }: JsonObject): number {
  const wanted = typeof pollIntervalMs === 'number' ? pollIntervalMs : POLL.usual
  return Math.min(Math.max(wanted, POLL.least), POLL.most)
}

/** A question that nobody answers: the task would wait for ever. */
function isOurs(error: unknown): boolean {
  return error instanceof RpcError && error.key === undefined
}

async function cancelQuietly(task: DrivenTask): Promise<void> {
  try {
    await requestTask(task.client, 'tasks/cancel', task, {}, {})
  } catch {
    // Whoever gave the task up has a reason of their own to tell.
  }
}
