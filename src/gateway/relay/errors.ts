import { ReeveError, RpcError } from '../../errors.js'
import { type JsonValue, RPC } from '../../protocol/index.js'

/** What the client asked for isn't there or can't be done so: asking again in the same way is of no use. */
const CLIENTS_FAULT: ReadonlySet<string> = new Set([
  'stale_catalog',
  'unsupported_call',
  'tool_disabled',
  'unknown_server',
  'ambiguous_server',
  'invalid_arguments',
])

/**
 * The JSON-RPC error that a client gets. A server's own error keeps code, message and data. An error of this side is
 * -32602 or -32603 with `data: {code, server, environment_id, …}`; what is no `ReeveError` shows nothing of itself.
 */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  if (!(error instanceof ReeveError)) return new RpcError(RPC.internalError, 'Internal error')
  const { message, ...data } = error.toJSON()
  const code = CLIENTS_FAULT.has(error.code) ? RPC.invalidParams : RPC.internalError
  return new RpcError(code, String(message), data as JsonValue)
}
