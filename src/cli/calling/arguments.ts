import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { didYouMean } from '../closest.js'
import { ArgumentError } from '../usage.js'
import { isObject, shapeOf } from './schema-type.js'
import { valueFrom } from './value.js'

export interface ReadArguments {
  readonly value: JsonObject
  /** Worth telling, but nothing that the server must refuse. */
  readonly notes: readonly string[]
}

/**
 * The arguments object of `key=value…`, typed by the tool's input schema. A repeated key makes a list where the schema
 * has one; `key:=JSON` is taken as JSON whatever the schema says. `base` (from `--input`) is overlaid.
 *
 * @throws ArgumentError for a pair without `=`, a value of another type, a key that the schema excludes, a required
 * argument that is missing
 */
export function argumentsFrom(
  pairs: readonly string[],
  schema: JsonValue | undefined,
  base: JsonObject = {},
): ReadArguments {
  const root = isObject(schema) ? schema : {}
  const properties = isObject(root.properties) ? root.properties : {}
  const values = new Map(Object.entries(base))
  const notes: string[] = []
  const given = new Set<string>()
  for (const pair of pairs) {
    const { key, text, json } = splitPair(pair, properties)
    if (!Object.hasOwn(properties, key)) notes.push(...checkUnknown(key, properties, root))
    const shape = shapeOf(Object.hasOwn(properties, key) ? properties[key] : undefined, root)
    const value = json ? jsonValue(key, text) : valueFrom(key, text, shape, root)
    if (given.has(key)) {
      if (!shape.types.has('array'))
        throw new ArgumentError(`argument '${key}' is given twice, and it takes no list`, { place: key })
      values.set(key, [...listOf(values.get(key) ?? null), ...listOf(value)])
    } else values.set(key, value)
    given.add(key)
  }
  requireAll(values, root, properties)
  return { value: Object.fromEntries(values), notes }
}

function splitPair(pair: string, properties: JsonObject): { key: string; text: string; json: boolean } {
  const at = pair.indexOf('=')
  if (at <= 0) throw new ArgumentError(`expected key=value, got '${pair}'. For a whole object use --input JSON`)
  const key = pair.slice(0, at)
  const text = pair.slice(at + 1)
  if (key.length > 1 && key.endsWith(':') && !Object.hasOwn(properties, key))
    return { key: key.slice(0, -1), text, json: true }
  return { key, text, json: false }
}

const listOf = (value: JsonValue): JsonValue[] => (Array.isArray(value) ? value : [value])

function jsonValue(key: string, text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text)
    return value
  } catch (cause) {
    throw new ArgumentError(`argument '${key}': ${text} is not JSON`, { place: key, cause })
  }
}

function checkUnknown(key: string, properties: JsonObject, root: JsonObject): string[] {
  const known = Object.keys(properties)
  const hint = didYouMean(key, known)
  if (root.additionalProperties === false) {
    const list = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`
    throw new ArgumentError(`the tool has no argument '${key}'${hint || `: ${list}`}`, { place: key, data: { known } })
  }
  const open = known.length === 0 || root.additionalProperties !== undefined
  return open ? [] : [`the tool's schema names no argument '${key}'${hint}`]
}

function requireAll(values: ReadonlyMap<string, JsonValue>, root: JsonObject, properties: JsonObject): void {
  const required = Array.isArray(root.required) ? root.required.filter((name) => typeof name === 'string') : []
  const missing = required.filter((name) => !values.has(name) && !hasDefault(properties, name))
  if (missing.length === 0) return
  const list = missing.map((name) => `'${name}'${about(properties, name, root)}`).join(', ')
  throw new ArgumentError(`missing required ${missing.length === 1 ? 'argument' : 'arguments'} ${list}`, {
    data: { missing },
  })
}

function hasDefault(properties: JsonObject, name: string): boolean {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(property) && 'default' in property
}

function about(properties: JsonObject, name: string, root: JsonObject): string {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  const types = [...shapeOf(property, root).types].join(' | ')
  const description = isObject(property) && typeof property.description === 'string' ? property.description : ''
  const words = [types, description.split('\n')[0] ?? ''].filter((word) => word !== '').join(': ')
  return words === '' ? '' : ` (${words.length > 100 ? `${words.slice(0, 99)}…` : words})`
}
