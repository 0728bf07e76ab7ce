/**
 * Freezes parsed JSON through and through. Iterative: a schema nested ten thousand deep must not overflow the stack.
 */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue
    Object.freeze(next)
    for (const inner of Object.values(next)) if (typeof inner === 'object' && inner !== null) open.push(inner)
  }
  return value
}
