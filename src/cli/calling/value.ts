import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { didYouMean } from '../closest.js'
import { ArgumentError } from '../usage.js'
import { type JsonType, shapeOf, typeOf, type ValueShape } from './schema-type.js'

/** What a JSON number looks like: `007`, `0x10` and `1_000` are text. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Tried in this order: text is taken as text only where nothing narrower fits. */
const ORDER: readonly JsonType[] = ['null', 'boolean', 'integer', 'number', 'object', 'array', 'string']

/**
 * The value of one `key=value`, typed by the property's schema.
 * @param name how the argument is called in the error
 * @throws ArgumentError when the text fits none of the schema's types or is not among its values
 */
export function valueFrom(name: string, text: string, shape: ValueShape, root: JsonObject): JsonValue {
  if (shape.allowed !== undefined) return allowedValue(name, text, shape.allowed)
  if (shape.types.size === 0) return anyValue(text)
  for (const type of ORDER) {
    if (!shape.types.has(type)) continue
    const value = READ[type](name, text, shape, root)
    if (value !== undefined) return value
  }
  throw new ArgumentError(`argument '${name}' must be ${describe(shape.types)}, got '${text}'`, { place: name })
}

type Reader = (name: string, text: string, shape: ValueShape, root: JsonObject) => JsonValue | undefined

const READ: Readonly<Record<JsonType, Reader>> = {
  null: (_name, text) => (text === 'null' ? null : undefined),
  boolean: (_name, text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  integer: (_name, text) => (NUMBER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
  number: (_name, text) => (NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined),
  object: (_name, text) => ofType('object', text),
  array: (name, text, shape, root) =>
    ofType('array', text) ??
    (shape.types.has('string') ? undefined : [valueFrom(name, text, shapeOf(shape.items, root), root)]),
  string: (_name, text) => text,
}

function ofType(type: JsonType, text: string): JsonValue | undefined {
  const value = parsed(text)
  return value !== undefined && typeOf(value) === type ? value : undefined
}

function anyValue(text: string): JsonValue {
  if (/^-?\d/.test(text))
    return NUMBER.test(text) && Number.isSafeInteger(Math.trunc(Number(text))) ? Number(text) : text
  const value = parsed(text)
  return value === undefined || typeof value === 'string' ? text : value
}

function allowedValue(name: string, text: string, allowed: readonly JsonValue[]): JsonValue {
  const found = allowed.find((value) => textOf(value) === text || JSON.stringify(value) === text)
  if (found !== undefined) return found
  const texts = allowed.map(textOf)
  const list = texts.slice(0, 20).join(', ') + (texts.length > 20 ? ', …' : '')
  throw new ArgumentError(`argument '${name}' must be one of ${list}; got '${text}'${didYouMean(text, texts)}`, {
    place: name,
    data: { allowed },
  })
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

function parsed(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

const WORDS: Readonly<Record<JsonType, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'a list (repeat the key, or a JSON array)',
  object: 'a JSON object',
  null: 'null',
}

function describe(types: ReadonlySet<JsonType>): string {
  return ORDER.filter((type) => types.has(type))
    .map((type) => WORDS[type])
    .join(' or ')
}
