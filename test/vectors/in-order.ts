import { expect } from 'vitest'

/** What stands for any value, where a value of that kind stands. */
const ANY_TEXT = /^<[\w-]+>$/
const ANY_TIME = 1_700_000_000_000

/**
 * Deep equality with the order of members. Placeholders match any value; a text for a model, wanted as `{startsWith}` or
 * under `textStartsWith`, its beginning.
 */
export function expectInOrder(actual: unknown, wanted: unknown): void {
  expect(JSON.stringify(filled(actual, wanted))).toBe(JSON.stringify(wanted))
}

/** The same of those members alone that the case names. */
export function expectNamedInOrder(actual: object, wanted: unknown): void {
  const named = isRecord(wanted) ? Object.entries(actual).filter(([name]) => name in wanted) : Object.entries(actual)
  expectInOrder(Object.fromEntries(named), wanted)
}

/** The actual value, with the wanted one wherever that stands for others and this one is among them. */
function filled(actual: unknown, wanted: unknown): unknown {
  if (typeof wanted === 'string' && ANY_TEXT.test(wanted) && typeof actual === 'string') return wanted
  if (wanted === ANY_TIME && typeof actual === 'number') return wanted
  if (Array.isArray(actual) && Array.isArray(wanted)) return actual.map((item, index) => filled(item, wanted[index]))
  if (!isRecord(wanted)) return actual
  if (begins(actual, wanted.startsWith)) return wanted
  if (!isRecord(actual)) return actual
  return Object.fromEntries(
    Object.entries(actual).map(([name, value]) => {
      const other = wanted[name]
      return [name, name === 'textStartsWith' && begins(value, other) ? other : filled(value, other)]
    }),
  )
}

function begins(actual: unknown, start: unknown): boolean {
  return typeof actual === 'string' && typeof start === 'string' && actual.startsWith(start)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
