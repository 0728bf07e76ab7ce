import type { JsonObject } from '../../protocol/index.js'

/** A text member of something that a server sent; undefined when it is absent, empty or no text. */
export function textMember(object: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}
