import type { JsonObject, JsonValue } from '../../../../src/protocol/index.js'
import type { Heard } from './heard.js'

/** `old`: sessions with a handshake, 2025-11-25. `new`: no handshake, 2026-07-28. */
export type Era = 'old' | 'new'

/** What a server wants to know of a client or its user. */
export interface Question {
  readonly method: string
  readonly params: JsonObject
}

export interface RequestOptions {
  readonly progressToken?: JsonValue
  /** Further members of `_meta`. */
  readonly meta?: JsonObject
}

export interface Running {
  readonly result: Promise<JsonObject>
  /** Takes the request back; `result` then rejects. */
  cancel(): Promise<void>
}

/** How a task ended. */
export interface TaskOutcome {
  readonly taskId: string
  readonly status: string
  /** Of the tool, when it has one. */
  readonly result?: JsonObject
  readonly error?: JsonObject
}

export interface RunningTask {
  readonly taskId: string
  outcome(): Promise<TaskOutcome>
  cancel(): Promise<void>
}

export interface Introduction {
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions?: string
  /** The result that said it. */
  readonly whole: JsonObject
}

export interface Watched {
  readonly uris?: readonly string[]
  readonly lists?: boolean
  /** New clients only. */
  readonly taskIds?: readonly string[]
}

/** One client of either era, with the same verbs. Each result is checked for the form that the era gives it. */
export interface EraClient extends AsyncDisposable {
  readonly era: Era
  /** What the other side said of itself. */
  readonly introduction: Introduction
  readonly heard: Heard
  /** What servers wanted to know, in order. */
  readonly asked: readonly Question[]
  /** What came that this era does not have. */
  readonly faults: readonly string[]
  /** Gives the answers from now on; absent: those of {@link usualAnswer}. */
  answer: (question: Question) => JsonObject | Promise<JsonObject>
  /** Answers questions on the way. @throws RefusedError */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>
  start(method: string, params?: JsonObject, options?: RequestOptions): Running
  /** Hears of changed listings, of these resources and tasks until it is disposed of. */
  watch(wanted: Watched): Promise<AsyncDisposable>
  /** Tells the other side. */
  notify(method: string, params: JsonObject): Promise<void>
  /** The least level of log messages from now on; undefined for none, where the era has such a thing. */
  setLogLevel(level: string | undefined): Promise<void>
  /** Calls a tool that becomes a task. */
  startTask(name: string, args: JsonObject): Promise<RunningTask>
}

/** The other side answered with an error. */
export class RefusedError extends Error {
  readonly code: number
  readonly data: JsonValue | undefined
  /** Whole, as it came. */
  readonly body: JsonObject

  constructor(method: string, body: JsonObject) {
    const { code, message, data } = body
    super(`${method}: ${code} ${message} ${data === undefined ? '' : JSON.stringify(data)}`)
    this.code = Number(code)
    this.data = data
    this.body = body
  }
}

export const CLIENT_INFO: JsonObject = {
  name: 'matrix',
  version: '1.2.3',
  title: 'Matrix',
  'com.example/edition': 'odd',
}

export const USUAL_ROOTS: JsonObject = { roots: [{ uri: 'file:///work', name: 'work' }] }

/** An agreeable user with a model that always says the same. */
export function usualAnswer({ method, params }: Question): JsonObject {
  if (method === 'roots/list') return USUAL_ROOTS
  if (method === 'sampling/createMessage') {
    return { role: 'assistant', model: 'fixed', content: { type: 'text', text: 'sampled' }, stopReason: 'endTurn' }
  }
  if (params.mode === 'url') return { action: 'accept' }
  return { action: 'accept', content: { username: 'ada', email: 'ada@example.com', name: 'Ada', confirm: true } }
}

export function requireForm(method: string, holds: boolean, what: string): void {
  if (!holds) throw new Error(`the result of ${method} has not the form of its era: ${what}`)
}

export function introductionFrom(serverInfo: JsonValue | undefined, said: JsonObject): Introduction {
  const { capabilities, instructions } = said
  return {
    serverInfo: (serverInfo ?? {}) as JsonObject,
    capabilities: (capabilities ?? {}) as JsonObject,
    ...(typeof instructions === 'string' && { instructions }),
    whole: said,
  }
}

export const NOT_INTRODUCED: Introduction = { serverInfo: {}, capabilities: {}, whole: {} }
