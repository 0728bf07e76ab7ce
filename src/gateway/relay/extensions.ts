import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { isObject } from './params.js'

/**
 * The extensions of several servers in one object. Where two declare one extension with different settings, lists of both
 * are joined, and of other settings the first server's count.
 */
export function mergedExtensions(capabilities: readonly (JsonObject | undefined)[]): JsonObject {
  const merged = new Map<string, JsonValue>()
  for (const declared of capabilities) {
    const extensions = declared?.extensions
    for (const [name, settings] of Object.entries(isObject(extensions) ? extensions : {})) {
      const before = merged.get(name)
      merged.set(name, before === undefined ? settings : joined(before, settings))
    }
  }
  return Object.fromEntries(merged)
}

function joined(first: JsonValue, second: JsonValue): JsonValue {
  if (Array.isArray(first) && Array.isArray(second)) {
    return [...first, ...second.filter((item) => !first.some((other) => isDeepStrictEqual(item, other)))]
  }
  if (!isObject(first) || !isObject(second)) return first
  const members = Object.entries(second).filter(([name]) => !Object.hasOwn(first, name))
  const shared = Object.entries(first).map(([name, value]) => {
    const other = Object.hasOwn(second, name) ? second[name] : undefined
    return [name, other === undefined ? value : joined(value, other)] as const
  })
  return Object.fromEntries([...shared, ...members])
}
