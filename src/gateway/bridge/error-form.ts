import { RpcError } from '../../errors.js'
import { type Era, type JsonObject, MODERN_RPC, RPC } from '../../protocol/index.js'
import { isObject } from '../relay/params.js'

/** Codes by which a server complains of the hop between it and the gateway: they are not the client's fault. */
const OF_THE_HOP: ReadonlySet<number> = new Set([MODERN_RPC.headerMismatch, MODERN_RPC.unsupportedProtocolVersion])

/**
 * A server's error in the era of the client. `server` is undefined for an error of this side, which stays as it is.
 * Resources that are missing: -32002 up to 2025-11-25, -32602 with the URI in `data` afterwards (changelog 2026-07-28,
 * minor 6). Codes that a modern client must not be sent become -32603 and keep their text and data.
 */
export function errorIn(client: Era, server: Era | undefined, method: string, error: RpcError): RpcError {
  if (server === undefined) return error
  if (OF_THE_HOP.has(error.rpcCode)) return withCode(error, RPC.internalError)
  if (client === 'modern') {
    if (error.rpcCode === RPC.resourceNotFound) return withCode(error, RPC.invalidParams)
    return error.rpcCode === RPC.urlElicitationRequired ? withCode(error, RPC.internalError) : error
  }
  return server === 'modern' && isMissingResource(method, error) ? withCode(error, RPC.resourceNotFound) : error
}

function isMissingResource(method: string, { rpcCode, rpcData }: RpcError): boolean {
  if (method !== 'resources/read' || rpcCode !== RPC.invalidParams) return false
  return isObject(rpcData as JsonObject[string]) && typeof Reflect.get(rpcData as object, 'uri') === 'string'
}

function withCode({ message, rpcData, key }: RpcError, code: number): RpcError {
  return new RpcError(code, message, rpcData, key)
}
