import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '../protocol/index.js'

/** Hints that must agree whenever the advertised side has annotations at all. */
const STRICT_HINTS = ['destructiveHint', 'idempotentHint', 'openWorldHint'] as const
const HINTS = [...STRICT_HINTS, 'readOnlyHint'] as const

/**
 * Whether a call that was offered by one definition may be carried out under another: the same name, input schema,
 * `_meta` and hints. How a tool is presented does not matter. `readOnlyHint` may be absent on the advertised side when
 * other annotations are there; but any hint over empty annotations is new (reference: connections, 8.1). The server and
 * the parallel flag are compared by who holds them.
 */
export function sameExecutionContract(advertised: JsonObject, live: JsonObject): boolean {
  return (
    advertised.name === live.name &&
    isDeepStrictEqual(advertised.inputSchema, live.inputSchema) &&
    isDeepStrictEqual(advertised._meta, live._meta) &&
    sameHints(annotationsOf(advertised), annotationsOf(live))
  )
}

/** What a tool known only from a cache is offered as: a cached `readOnlyHint` must not loosen anything. */
export function withoutReadOnlyHint(tool: JsonObject): JsonObject {
  const { annotations } = tool
  if (!isObject(annotations) || !Object.hasOwn(annotations, 'readOnlyHint')) return tool
  const { readOnlyHint: _, ...kept } = annotations
  return Object.freeze({ ...tool, annotations: Object.freeze(kept) })
}

function sameHints(advertised: JsonObject, live: JsonObject): boolean {
  if (Object.keys(advertised).length === 0) return HINTS.every((hint) => live[hint] === undefined)
  return (
    STRICT_HINTS.every((hint) => advertised[hint] === live[hint]) &&
    (advertised.readOnlyHint === live.readOnlyHint || advertised.readOnlyHint === undefined)
  )
}

function annotationsOf({ annotations }: JsonObject): JsonObject {
  return isObject(annotations) ? annotations : {}
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
