import {
  type JsonRpcErrorResponse,
  type JsonRpcMessage,
  type JsonRpcResponse,
  type JsonValue,
  type RequestId,
  RPC,
} from '../protocol/index.js'

/** What one frame of a client holds: a stdio line, or a POST body. */
export type Inbound =
  | { readonly kind: 'message'; readonly message: JsonRpcMessage }
  | { readonly kind: 'batch'; readonly messages: readonly JsonRpcMessage[] }
  | { readonly kind: 'invalid'; readonly answer: JsonRpcErrorResponse }

/**
 * Parses a client's frame. Only the envelope is checked, members pass as they came. `invalid` holds the answer to give:
 * -32700 for text that is no JSON, -32600 for JSON that is no message.
 */
export function parseInbound(text: string): Inbound {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'invalid', answer: errorAnswer(null, RPC.parseError, 'Parse error: the message is not JSON') }
  }
  if (Array.isArray(value)) return parseBatch(value)
  return isMessage(value) ? { kind: 'message', message: value } : invalid(value)
}

export function errorAnswer(
  id: RequestId | null,
  code: number,
  message: string,
  data?: JsonValue,
): JsonRpcErrorResponse {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
}

/** An answer as text. One that can't be written (nested too deep, for one) still has to end its request. */
export function encodeAnswer(answer: JsonRpcResponse): string {
  try {
    return JSON.stringify(answer)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return JSON.stringify(errorAnswer(answer.id, RPC.internalError, `the answer can't be written as JSON: ${reason}`))
  }
}

function parseBatch(members: readonly unknown[]): Inbound {
  if (members.length === 0) return invalid(members)
  const messages: JsonRpcMessage[] = []
  for (const member of members) {
    if (!isMessage(member)) return invalid(member)
    messages.push(member)
  }
  return { kind: 'batch', messages }
}

function invalid(value: unknown): Inbound {
  const id = isObject(value) && isId(value.id) ? value.id : null
  return { kind: 'invalid', answer: errorAnswer(id, RPC.invalidRequest, 'Invalid Request: not a JSON-RPC 2.0 message') }
}

function isMessage(value: unknown): value is JsonRpcMessage {
  if (!isObject(value) || value.jsonrpc !== '2.0') return false
  if (Object.hasOwn(value, 'method')) {
    if (typeof value.method !== 'string') return false
    if (Object.hasOwn(value, 'params') && !isObject(value.params)) return false
    return !Object.hasOwn(value, 'id') || isId(value.id)
  }
  if (Object.hasOwn(value, 'result')) return isId(value.id) && isObject(value.result)
  return Object.hasOwn(value, 'error') && isObject(value.error) && (value.id == null || isId(value.id))
}

/** A number that was too long to be read exactly would be echoed as another one, and its answer never recognised. */
function isId(value: unknown): value is RequestId {
  if (typeof value === 'number') return Number.isSafeInteger(value) || (Number.isFinite(value) && value % 1 !== 0)
  return typeof value === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
