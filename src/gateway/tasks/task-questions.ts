import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Questions } from '../relay/environment-questions.js'
import { isObject } from '../relay/params.js'

export interface SiftedTask {
  /** The task with what is the client's to answer. */
  readonly shown: JsonObject
  /** What is answered here, by the names of the questions; absent when nothing is. */
  readonly answers?: JsonObject
}

/** Parts what a task of a modern server asks (SEP-2663, `inputRequests`) into the client's questions and the others. */
export async function sift(questions: Questions, key: ServerKey, task: JsonObject): Promise<SiftedTask> {
  const { inputRequests, ...rest } = task
  if (!isObject(inputRequests)) return { shown: task }
  const answers = new Map<string, JsonObject>()
  const left = new Map<string, JsonObject[string]>()
  for (const [name, request] of Object.entries(inputRequests)) {
    const method = isObject(request) && typeof request.method === 'string' ? request.method : undefined
    const answer = method === undefined ? undefined : await questions.answered(key, method)
    if (answer !== undefined) answers.set(name, answer)
    else left.set(name, method === undefined ? request : shownAs(questions, key, method, request))
  }
  // Without a question it goes on, which its server says with its next state.
  const shown = left.size > 0 ? { ...rest, inputRequests: Object.fromEntries(left) } : { ...rest, status: 'working' }
  return answers.size > 0 ? { shown, answers: Object.fromEntries(answers) } : { shown }
}

function shownAs(questions: Questions, key: ServerKey, method: string, request: JsonObject[string]) {
  if (!isObject(request)) return request
  const params = questions.shown(key, method, isObject(request.params) ? request.params : undefined)
  return params === undefined ? request : { ...request, params }
}
