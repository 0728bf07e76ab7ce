/**
 * Why a parsed value may not be what was sent, or can't be written as JSON; undefined: it is exact. Parsing rounds integers
 * outside the safe range, and turns 1e999 into Infinity and the sign of -0 into nothing once it is written again.
 */
export function inexactness(value: unknown): string | undefined {
  const rest = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next === 'number' && isRounded(next)) return `the number ${next} may have been rounded`
    if (!isJson(next)) return `${typeof next} is no JSON`
    if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) rest.push(member)
  }
  return undefined
}

/** Equal as JSON: the order of members says nothing, that of items does. */
export function sameJson(one: unknown, other: unknown): boolean {
  const rest: [unknown, unknown][] = [[one, other]]
  for (let pair = rest.pop(); pair !== undefined; pair = rest.pop()) {
    const [a, b] = pair
    if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) {
      if (a !== b) return false
      continue
    }
    if (Array.isArray(a) !== Array.isArray(b)) return false
    const left = new Map(Object.entries(a))
    const right = Object.entries(b)
    if (left.size !== right.length) return false
    for (const [name, value] of right) {
      if (!left.has(name)) return false
      rest.push([left.get(name), value])
    }
  }
  return true
}

function isRounded(number: number): boolean {
  return (
    !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)) || Object.is(number, -0)
  )
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return true
  if (typeof value !== 'object') return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}
