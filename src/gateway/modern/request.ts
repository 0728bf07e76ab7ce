import { RpcError } from '../../errors.js'
import {
  type JsonObject,
  type JsonRpcRequest,
  MODERN_REVISION,
  type RequestEnvelope,
  type RequestId,
  readEnvelope,
} from '../../protocol/index.js'
import { missingEnvelope, unsupportedRevision } from '../eras.js'

/** One request of a modern client, complete in itself, with the way back to it. */
export interface ModernRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  readonly envelope: RequestEnvelope
  readonly principal: string
  /** Fires when the client left or cancelled. */
  readonly signal: AbortSignal
  /** Sends a notification on the request's own stream. */
  notify(method: string, params: JsonObject): void
  /** Refuses a call whose `Mcp-Param-*` headers are not what its arguments say; absent where there are no headers. */
  readonly checkParameters?: (inputSchema: JsonObject[string] | undefined, args: JsonObject[string] | undefined) => void
}

/** @throws RpcError -32602 for an envelope that is incomplete, -32022 for a revision that is not served */
export function requireEnvelope({ params }: Pick<JsonRpcRequest, 'params'>): RequestEnvelope {
  const envelope = readEnvelope(params)
  if ('invalid' in envelope) {
    const { code, message } = missingEnvelope(envelope.invalid)
    throw new RpcError(code, message)
  }
  if (envelope.protocolVersion !== MODERN_REVISION) {
    const { code, message, data } = unsupportedRevision(envelope.protocolVersion)
    throw new RpcError(code, message, data)
  }
  return envelope
}
