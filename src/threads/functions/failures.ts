import {
  NotConnectedError,
  type ReeveError,
  ResourceFunctionError,
  RpcError,
  ServerDisabledError,
  StartupFailedError,
  TransportClosedError,
} from '../../errors.js'
import { displayKey, type ServerKey } from '../../identity/index.js'

/** What was asked of which server. */
export interface Asked {
  readonly method: string
  readonly key: ServerKey
  /** Of a read. */
  readonly uri?: string
}

/** No client was to be had: nothing was sent (reference: tool-calls, 9.5). */
export function unavailable({ method, key }: Asked, error: ReeveError): ResourceFunctionError {
  const isDown =
    error instanceof StartupFailedError || error instanceof NotConnectedError || error instanceof ServerDisabledError
  return new ResourceFunctionError(
    isDown ? 'server_unavailable' : error.code,
    `${method} failed: failed to get client: ${clientText(error)}`,
    { key, cause: error, ...(error.data && { data: error.data }) },
  )
}

/** The request, or its answer, failed. */
export function failed(asked: Asked, error: ReeveError): ResourceFunctionError {
  if (error instanceof StartupFailedError) return unavailable(asked, error)
  const { method, key, uri } = asked
  const where = uri === undefined ? '' : ` (${uri})`
  return new ResourceFunctionError(
    error instanceof TransportClosedError ? 'connection_lost' : error.code,
    `${method} failed: ${method} failed for \`${displayKey(key)}\`${where}: ${requestText(error)}`,
    { key, cause: error, ...(error.data && { data: error.data }) },
  )
}

function clientText(error: ReeveError): string {
  if (!(error instanceof StartupFailedError)) return error.message
  const reason = error.data?.reason
  return `MCP startup failed: ${typeof reason === 'string' ? reason : error.message}`
}

function requestText(error: ReeveError): string {
  if (error instanceof TransportClosedError) return 'Transport closed'
  if (error instanceof RpcError) return `Mcp error: ${error.rpcCode}: ${error.message}`
  return error.message
}
