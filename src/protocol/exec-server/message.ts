/** Messages on the wire: JSON-RPC without its `jsonrpc` member (reference: executor-protocol, 3). */

/** A text or a signed 64-bit integer. -1 is for errors that belong to no request. */
export type ExecId = string | number

export interface ExecRequest {
  readonly id: ExecId
  readonly method: string
  readonly params?: unknown
}

export interface ExecNotification {
  readonly method: string
  readonly params?: unknown
}

export interface ExecResult {
  readonly id: ExecId
  readonly result: unknown
}

export interface ExecErrorBody {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export interface ExecError {
  readonly id: ExecId
  readonly error: ExecErrorBody
}

export type ExecMessage = ExecRequest | ExecNotification | ExecResult | ExecError

/** What a message turned out to be. Of `malformed` the reason names no content. */
export type ExecClassified =
  | { readonly kind: 'request'; readonly message: ExecRequest }
  | { readonly kind: 'notification'; readonly message: ExecNotification }
  | { readonly kind: 'result'; readonly message: ExecResult }
  | { readonly kind: 'error'; readonly message: ExecError }
  | { readonly kind: 'malformed'; readonly reason: string }

/**
 * The kind of a decoded JSON value: `method` and `id` make a request, `method` alone a notification, then `result`, then
 * `error`. Members that are not ours are dropped.
 */
export function classifyExecMessage(value: unknown): ExecClassified {
  if (!isObject(value)) return malformed('not a JSON object')
  const { id, method, params } = value
  if (Object.hasOwn(value, 'id') && !isExecId(id)) return malformed('its id is neither a text nor an integer')
  if (Object.hasOwn(value, 'method')) {
    if (typeof method !== 'string') return malformed('its method is not a text')
    const call = params === undefined ? { method } : { method, params }
    return isExecId(id) ? { kind: 'request', message: { id, ...call } } : { kind: 'notification', message: call }
  }
  if (!isExecId(id)) return malformed('neither a method nor an id')
  if (Object.hasOwn(value, 'result')) return { kind: 'result', message: { id, result: value.result } }
  const { error } = value
  if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== 'string')
    return malformed('neither a method, a result nor an error')
  const { data } = error
  const body = { code: error.code as number, message: error.message, ...(data !== undefined && { data }) }
  return { kind: 'error', message: { id, error: body } }
}

/** Integers beyond the safe ones cannot be echoed as they came. */
export function isExecId(id: unknown): id is ExecId {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function malformed(reason: string): ExecClassified {
  return { kind: 'malformed', reason }
}
