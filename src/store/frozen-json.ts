/** A value that was parsed from JSON, frozen with everything in it. */
export function frozenJson<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const part of Object.values(value)) frozenJson(part)
    Object.freeze(value)
  }
  return value
}
