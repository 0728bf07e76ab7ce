import type { ServerRequestHandler } from '../../connections/index.js'
import type { Thread } from '../../threads/index.js'
import { markQuestion } from './environment-marks.js'
import { executionEnvironment, isElsewhere, rootsThere } from './environment-roots.js'

/** What a client is asked: by a person's or a model's leave, or for the folders of its machine. */
const QUESTIONS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list'])

/** Brings to the client what servers ask, with the environment of those that belong to one. */
export function namingEnvironments(ask: ServerRequestHandler): ServerRequestHandler {
  return (request, signal) => {
    const { key, method, params } = request
    if (key.environment === null || !QUESTIONS.has(method)) return ask(request, signal)
    return ask({ ...request, params: markQuestion(key, params ?? {}) }, signal)
  }
}

/** Roots of servers that run elsewhere are not the client's to tell: these are answered here, and not asked. */
export function keepingRoots(
  ask: ServerRequestHandler,
  thread: () => Thread | undefined,
  workspaceOf?: (environment: string) => string | undefined,
): ServerRequestHandler {
  return async (request, signal) => {
    const started = thread()
    const { key, method } = request
    if (method !== 'roots/list' || started === undefined || !isElsewhere(started, key)) return ask(request, signal)
    const id = executionEnvironment(started, key)
    const cwd = workspaceOf?.(id)
    if (workspaceOf !== undefined) return rootsThere({ id, ...(cwd !== undefined && { cwd }) })
    return rootsThere(started.environments.find((selected) => selected.id === id) ?? { id })
  }
}
