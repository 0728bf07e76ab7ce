import type { JsonObject } from '../../protocol/index.js'
import { isObject } from '../relay/params.js'

/**
 * What a client would have had to declare to be asked this: the missing part of `ClientCapabilities`. Undefined when it
 * declared everything, or when the method needs nothing.
 */
export function uncovered(
  capabilities: JsonObject,
  method: string,
  params: JsonObject | undefined,
): JsonObject | undefined {
  if (method === 'roots/list') return has(capabilities, 'roots') ? undefined : { roots: {} }
  if (method === 'sampling/createMessage') return uncoveredSampling(capabilities.sampling, params)
  if (method === 'elicitation/create') return uncoveredElicitation(capabilities.elicitation, params)
  if (TASK_METHODS.has(method)) return has(capabilities, 'tasks') ? undefined : { tasks: {} }
  return undefined
}

/** What a server may ask of a modern client, in its results. */
export const ASKED_IN_RESULTS: ReadonlySet<string> = new Set([
  'roots/list',
  'sampling/createMessage',
  'elicitation/create',
])

const TASK_METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel'])

function uncoveredSampling(sampling: JsonObject[string] | undefined, params: JsonObject = {}): JsonObject | undefined {
  if (!isObject(sampling)) return { sampling: {} }
  const usesTools = params.tools !== undefined || params.toolChoice !== undefined
  return usesTools && !isObject(sampling.tools) ? { sampling: { tools: {} } } : undefined
}

/** An empty declaration means forms, as before there were modes. */
function uncoveredElicitation(
  elicitation: JsonObject[string] | undefined,
  params: JsonObject = {},
): JsonObject | undefined {
  if (params.mode === 'url') {
    return isObject(elicitation) && isObject(elicitation.url) ? undefined : { elicitation: { url: {} } }
  }
  if (!isObject(elicitation)) return { elicitation: {} }
  return isObject(elicitation.form) || !Object.hasOwn(elicitation, 'url') ? undefined : { elicitation: { form: {} } }
}

function has(capabilities: JsonObject, name: string): boolean {
  return Object.hasOwn(capabilities, name) && isObject(capabilities[name])
}
