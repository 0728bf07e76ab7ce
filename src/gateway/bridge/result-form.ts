import type { CacheHint } from '../../connections/index.js'
import { type Era, type JsonObject, MODERN_META } from '../../protocol/index.js'
import { KEEP_NOTHING, readCacheHint } from '../../threads/index.js'
import { withoutApprovalMarksIn } from '../relay/approval-marks.js'
import { isObject } from '../relay/params.js'

/** How results look in the era of a client. */
export interface ResultForm {
  /** What a server of the era `server` answered to one request. */
  relayed(server: Era, method: string, result: JsonObject): JsonObject
  /** A tool's definition; of a server that is not up the era is not known. */
  tool(server: Era | undefined, definition: JsonObject): JsonObject
  /** A listing that was made here, of several servers' answers. */
  listed(result: JsonObject, hint: CacheHint): JsonObject
}

/** Results that say how long they may be kept (specification 2026-07-28, caching). */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

/** Without what came with the modern era; a legacy server's own members of those names are as unknown as any. */
export const LEGACY_FORM: ResultForm = Object.freeze({
  relayed: (server: Era, method: string, result: JsonObject) =>
    server === 'legacy' ? result : withoutModernMembers(method, result),
  tool: (server: Era | undefined, definition: JsonObject) =>
    server === 'legacy' ? definition : withoutModernSchema(definition),
  listed: (result: JsonObject) => result,
})

/** With a type, and where it matters with a hint; what a legacy server answered is complete and kept by nobody. */
export const MODERN_FORM: ResultForm = Object.freeze({
  relayed: (server: Era, method: string, answer: JsonObject) => {
    const result = withoutApprovalMarksIn(answer)
    const resultType = server === 'modern' ? (result.resultType ?? 'complete') : 'complete'
    if (!CACHEABLE.has(method) || resultType !== 'complete') return { ...result, resultType }
    const hint = server === 'modern' ? readCacheHint(result) : undefined
    return { ...result, resultType, ...(hint ?? KEEP_NOTHING) }
  },
  tool: (_server: Era | undefined, definition: JsonObject) => definition,
  listed: (result: JsonObject, hint: CacheHint) => ({ ...result, resultType: 'complete', ...hint }),
})

/** Up to 2025-11-25 structured content is an object, and its schema says so (changelog 2026-07-28, minor 10). */
function withoutModernSchema(definition: JsonObject): JsonObject {
  const { outputSchema, ...rest } = definition
  const isObjects = outputSchema === undefined || (isObject(outputSchema) && outputSchema.type === 'object')
  return isObjects ? definition : rest
}

function withoutModernMembers(method: string, result: JsonObject): JsonObject {
  const { resultType: _, ...kept } = result
  if (kept.structuredContent !== undefined && !isObject(kept.structuredContent)) delete kept.structuredContent
  if (CACHEABLE.has(method)) {
    delete kept.ttlMs
    delete kept.cacheScope
  }
  if (!isObject(kept._meta) || !Object.hasOwn(kept._meta, MODERN_META.serverInfo)) return kept
  const { [MODERN_META.serverInfo]: __, ...meta } = kept._meta
  if (Object.keys(meta).length > 0) return { ...kept, _meta: meta }
  const { _meta, ...bare } = kept
  return bare
}
