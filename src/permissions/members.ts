import { PermissionProfileError } from '../errors.js'

/** A JSON object. Its own members only are read, so that a name like `constructor` finds nothing. */
export type Members = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of an own member; undefined when there is none. */
export function member(of: Members, name: string): unknown {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

/** `place.name`, or the name alone at the top. */
export function memberPlace(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`
}

export function record(value: unknown, place: string): Members {
  return isRecord(value) ? value : wrong(value, 'an object', place)
}

export function list(value: unknown, place: string): readonly unknown[] {
  return Array.isArray(value) ? value : wrong(value, 'an array', place)
}

export function text(value: unknown, place: string): string {
  if (typeof value !== 'string') return wrong(value, 'a string', place)
  if (value.includes('\0')) throw new PermissionProfileError(`${place} has a NUL character`, { place })
  return value
}

export function oneOf<Value extends string>(value: unknown, allowed: readonly Value[], place: string): Value {
  const found = allowed.find((one) => one === value)
  return found ?? wrong(value, allowed.map((one) => `\`${one}\``).join(' or '), place)
}

/** Says what was expected at a place, and what is there instead. */
export function wrong(value: unknown, expected: string, place: string): never {
  const what = value === undefined ? 'is missing' : `is ${shown(value)}`
  throw new PermissionProfileError(`${place === '' ? 'the profile' : place} ${what}: expected ${expected}`, { place })
}

function shown(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? `\`${value.length > 60 ? `${value.slice(0, 60)}…` : value}\`` : String(value)
}
