import { type JsonObject, MODERN_META } from '../../protocol/index.js'
import { isObject } from '../relay/params.js'

/** A result as this gateway gives it: with its type, and with who says it. */
export function finishResult(result: JsonObject, serverInfo: JsonObject): JsonObject {
  const meta = isObject(result._meta) ? result._meta : {}
  return { resultType: 'complete', ...result, _meta: { ...meta, [MODERN_META.serverInfo]: serverInfo } }
}
