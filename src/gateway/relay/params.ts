import { RpcError } from '../../errors.js'
import { type JsonObject, type JsonValue, RPC } from '../../protocol/index.js'

/** What a client's request must hold to be routed. Everything else in it is relayed unread. */

/** @throws RpcError -32602 */
export function requiredText(params: JsonObject, member: string): string {
  const value = params[member]
  if (typeof value !== 'string' || !Object.hasOwn(params, member)) throw invalidParams(`'${member}' must be a string`)
  return value
}

/** @throws RpcError -32602 when it is there and no string. */
export function optionalText(params: JsonObject, member: string): string | undefined {
  return Object.hasOwn(params, member) && params[member] !== undefined ? requiredText(params, member) : undefined
}

/** @throws RpcError -32602 when it is there and no object. */
export function optionalObject(params: JsonObject, member: string): JsonObject | undefined {
  const value = Object.hasOwn(params, member) ? params[member] : undefined
  if (value !== undefined && !isObject(value)) throw invalidParams(`'${member}' must be an object`)
  return value
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function invalidParams(message: string, data?: JsonValue): RpcError {
  return new RpcError(RPC.invalidParams, message, data)
}
