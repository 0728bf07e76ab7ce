import type { JsonObject, JsonValue } from '../message.js'

/** A question that a server puts into a result (specification 2026-07-28, multi round-trip requests). */
export interface InputRequest {
  readonly method: string
  readonly params?: JsonObject
}

/** A result that is none yet: the client answers the questions and repeats its request with the answers and the state. */
export interface InputRequired {
  /** By the server's own identifiers. */
  readonly inputRequests: ReadonlyMap<string, InputRequest>
  /** Opaque; absent when the server gave none. */
  readonly requestState: string | undefined
}

/** The requests that may be answered so. */
export const INPUT_METHODS: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'prompts/get'])

/** Reads a result; undefined for a complete one. Questions that are no requests are left out. */
export function readInputRequired(result: JsonObject): InputRequired | undefined {
  if (result.resultType !== 'input_required') return undefined
  const { inputRequests, requestState } = result
  const questions = new Map<string, InputRequest>()
  for (const [id, question] of Object.entries(isObject(inputRequests) ? inputRequests : {})) {
    if (isObject(question) && typeof question.method === 'string') {
      questions.set(id, {
        method: question.method,
        ...(isObject(question.params) && { params: question.params }),
      })
    }
  }
  return { inputRequests: questions, requestState: typeof requestState === 'string' ? requestState : undefined }
}

/** The params of the repeated request: the original ones with the answers by identifier, and the state if there was one. */
export function withInputResponses(
  params: JsonObject,
  responses: ReadonlyMap<string, JsonObject>,
  requestState: string | undefined,
): JsonObject {
  const { inputResponses: _, requestState: __, ...original } = params
  return {
    ...original,
    inputResponses: Object.fromEntries(responses),
    ...(requestState !== undefined && { requestState }),
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
