import { ProtocolViolationError } from '../../errors.js'
import type { JsonRpcMessage, RequestId } from '../../protocol/index.js'

export interface ReadMessages {
  readonly messages: readonly JsonRpcMessage[]
  /** One per element that is no JSON-RPC message; `data.id` is the id it carried, if any. */
  readonly faults: readonly ProtocolViolationError[]
}

/** The messages in one JSON value: a message, or a batch of them. Members are not touched. */
export function readMessages(value: unknown, place: string): ReadMessages {
  const messages: JsonRpcMessage[] = []
  const faults: ProtocolViolationError[] = []
  for (const element of Array.isArray(value) ? value : [value]) {
    if (isMessage(element)) messages.push(element)
    else faults.push(notAMessage(element, place))
  }
  return { messages, faults }
}

export function isMessage(value: unknown): value is JsonRpcMessage {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false
  if (Object.hasOwn(value, 'method')) {
    const params = value.params
    return (
      typeof value.method === 'string' &&
      (!Object.hasOwn(value, 'id') || isId(value.id)) &&
      (params === undefined || isRecord(params))
    )
  }
  if (Object.hasOwn(value, 'result')) return isId(value.id) && isRecord(value.result)
  return isErrorResponse(value)
}

/** An error answer. Its id may be null, or missing where a server could not read the request. */
export function isErrorResponse(value: unknown): value is JsonRpcMessage & { id: RequestId | null; error: RpcFault } {
  if (!isRecord(value) || value.jsonrpc !== '2.0' || Object.hasOwn(value, 'result')) return false
  const { id, error } = value
  if (id !== undefined && id !== null && !isId(id)) return false
  return isRecord(error) && typeof error.code === 'number' && typeof error.message === 'string'
}

interface RpcFault {
  code: number
  message: string
}

function notAMessage(value: unknown, place: string): ProtocolViolationError {
  const id = isRecord(value) && isId(value.id) ? value.id : undefined
  return new ProtocolViolationError(`${place} sent JSON that is no JSON-RPC message`, {
    place,
    ...(id !== undefined && { data: { id } }),
  })
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
