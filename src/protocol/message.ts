/** JSON-RPC 2.0 as MCP uses it. Values are relayed as parsed: nothing here strips a member. */

export type JsonValue = null | boolean | number | string | JsonValue[] | { [member: string]: JsonValue }
export type JsonObject = { [member: string]: JsonValue }

export type RequestId = string | number

export interface JsonRpcRequest {
  jsonrpc: '2.0'
  id: RequestId
  method: string
  params?: JsonObject
}
export interface JsonRpcNotification {
  jsonrpc: '2.0'
  method: string
  params?: JsonObject
}
export interface JsonRpcResult {
  jsonrpc: '2.0'
  id: RequestId
  result: JsonObject
}
export interface JsonRpcErrorBody {
  code: number
  message: string
  data?: JsonValue
}
export interface JsonRpcErrorResponse {
  jsonrpc: '2.0'
  id: RequestId | null
  error: JsonRpcErrorBody
}
export type JsonRpcResponse = JsonRpcResult | JsonRpcErrorResponse
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse

export const isRequest = (message: JsonRpcMessage): message is JsonRpcRequest => 'method' in message && 'id' in message
export const isNotification = (message: JsonRpcMessage): message is JsonRpcNotification =>
  'method' in message && !('id' in message)
export const isResponse = (message: JsonRpcMessage): message is JsonRpcResponse => !('method' in message)

/** Standard codes, and MCP's. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  resourceNotFound: -32002,
  urlElicitationRequired: -32042,
} as const
