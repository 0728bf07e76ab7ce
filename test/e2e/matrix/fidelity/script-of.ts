import type { JsonObject } from '../../../../src/protocol/index.js'
import type { Era } from '../clients/client.js'
import type { Exchange, Outcome, Script } from './scripted-server.js'
import type { TaskTalk, ToolTalk, World } from './world.js'

export const CUSTOM_METHOD = 'com.example/custom'
export const NEWS = 'notifications/com.example/news'
/** Of a client, that nobody knows. */
export const TOLD = 'notifications/com.example/told'

/** What a server says in this world. */
export function scriptOf(world: World, era: Era, answers: Map<string, JsonObject>): Script {
  const lists: Readonly<Record<string, JsonObject>> = {
    'tools/list': { ...world.lists, tools: [...world.tools, world.task].map(({ definition }) => definition) },
    'resources/list': { ...world.lists, resources: world.resources.map(({ listed }) => listed) },
    'resources/templates/list': { ...world.lists, resourceTemplates: [...world.templates] },
    'prompts/list': { ...world.lists, prompts: world.prompts.map(({ listed }) => listed) },
  }
  return {
    hello: world.hello,
    async respond(method, params, exchange) {
      const list = lists[method]
      if (list !== undefined) return { result: list }
      if (method.startsWith('tasks/')) return { result: taskResult(world.task, era, method) }
      if (method === 'tools/call' && params.name === world.task.definition.name) {
        return { result: begunTask(world.task, era) }
      }
      if (method === 'tools/call') {
        const talk = world.tools.find(({ definition }) => definition.name === params.name)
        return talk === undefined ? UNKNOWN : callTool(talk, era, params, exchange, answers)
      }
      if (method === 'resources/read') return resultOf(world.resources.find(({ listed }) => listed.uri === params.uri))
      if (method === 'prompts/get') return resultOf(world.prompts.find(({ listed }) => listed.name === params.name))
      if (method === 'completion/complete') {
        const { value } = params.argument as JsonObject
        return resultOf(world.completions.find((talk) => (talk.params.argument as JsonObject).value === value))
      }
      if (method === CUSTOM_METHOD) return { result: world.custom.result }
      return { result: {} }
    },
  }
}

async function callTool(
  talk: ToolTalk,
  era: Era,
  { _meta, inputResponses, requestState }: JsonObject,
  exchange: Exchange,
  answers: Map<string, JsonObject>,
): Promise<Outcome> {
  const name = String(talk.definition.name)
  if (era === 'new' && inputResponses === undefined) {
    return {
      result: { ...talk.asking, resultType: 'input_required', inputRequests: { ask: { ...talk.question } } },
    }
  }
  if (era === 'new')
    answers.set(name, { ...((inputResponses as JsonObject).ask as JsonObject), requestState: requestState ?? null })
  else answers.set(name, await exchange.ask(talk.question.method, talk.question.params))
  const { progressToken } = _meta as JsonObject
  exchange.notify('notifications/progress', { ...talk.progress, progressToken: progressToken ?? null })
  exchange.notify('notifications/message', talk.log)
  exchange.notify(NEWS, talk.news)
  exchange.announce('notifications/resources/updated', talk.update)
  return talk.error === undefined ? { result: talk.result } : { error: talk.error }
}

function begunTask({ around, begun }: TaskTalk, era: Era): JsonObject {
  return era === 'old' ? { ...around, task: begun } : { ...begun, resultType: 'task' }
}

function taskResult({ ended, result }: TaskTalk, era: Era, method: string): JsonObject {
  if (method === 'tasks/result') return result
  return era === 'old' ? ended : { ...ended, result }
}

const UNKNOWN: Outcome = { error: { code: -32602, message: 'unknown' } }

function resultOf(talk: { readonly result: JsonObject } | undefined): Outcome {
  return talk === undefined ? UNKNOWN : { result: talk.result }
}
