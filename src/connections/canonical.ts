import { createHash } from 'node:crypto'

/**
 * JSON with the members of every object in code unit order, so that two values that differ only in the order of a map
 * give one text. `undefined` members count as absent.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_member, inner: unknown) => (isPlainObject(inner) ? sorted(inner) : inner)) ?? 'null'
}

/** SHA-256 in lower-case hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(object: Record<string, unknown>): Record<string, unknown> {
  const copy = Object.create(null) as Record<string, unknown>
  for (const member of Object.keys(object).sort()) copy[member] = object[member]
  return copy
}
