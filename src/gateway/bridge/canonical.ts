import type { JsonValue } from '../../protocol/index.js'

/** One text for equal JSON values, whatever the order of their members. Throws `RangeError` for endless nesting. */
export function canonicalText(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`)
  return `{${members.join(',')}}`
}
