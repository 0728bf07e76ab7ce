import type { JsonRpcMessage } from '../../protocol/index.js'
import type { HttpOperation } from './http-auth.js'

/** What a credential source is told of the message in a POST. */
export function rpcFacts(message: JsonRpcMessage): Pick<HttpOperation, 'rpcMethod' | 'tool'> {
  if (!('method' in message)) return {}
  const { method: rpcMethod, params } = message
  const name = rpcMethod === 'tools/call' && params !== undefined && 'name' in params ? params.name : undefined
  return { rpcMethod, ...(typeof name === 'string' && { tool: name }) }
}
