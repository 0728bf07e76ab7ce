import { ConfigError } from '../../errors.js'
import { isTable, type Path, pathText, type Raw, shortened } from '../source/raw.js'

/**
 * What a member must look like: reads it with the reference's error texts and describes itself as JSON Schema. Own code
 * instead of zod: `list` runs on every shell prompt of some people, zod adds 19 ms to a 53 ms start, and each of its
 * messages would have to be replaced.
 */
export interface Shape<T> {
  /** @throws ConfigError whose `place` is the member's path. */
  read(value: Raw, path: Path, notes: Notes): T
  readonly schema: JsonSchema
}

/** Told about what was read but not understood. */
export interface Notes {
  unknown(path: Path, known: readonly string[]): void
}

export type JsonSchema = { readonly [keyword: string]: unknown }

/** A fault of one member: `place` is its path, `data.path` the same in parts. */
export function fault(code: string, message: string, path: Path, facts: Record<string, unknown> = {}): ConfigError {
  return new ConfigError(code, message, { place: pathText(path), data: { path, ...facts } })
}

/** `invalid type: integer \`5\`, expected a string`. */
export function wrongType(value: Raw, expected: string, path: Path): ConfigError {
  return fault('wrong_type', `invalid type: ${unexpected(value, path)}, expected ${expected}`, path)
}

export const text: Shape<string> = {
  schema: { type: 'string' },
  read(value, path) {
    if (typeof value !== 'string') throw wrongType(value, 'a string', path)
    return value
  },
}

export const flag: Shape<boolean> = {
  schema: { type: 'boolean' },
  read(value, path) {
    if (typeof value !== 'boolean') throw wrongType(value, 'a boolean', path)
    return value
  },
}

/** A number of seconds, whole or not; the sign is judged by the reader of the table. */
export const seconds: Shape<number> = {
  schema: { type: 'number', minimum: 0 },
  read(value, path) {
    if (typeof value !== 'number' && typeof value !== 'bigint') throw wrongType(value, 'f64', path)
    return Number(value)
  },
}

/** An integer in a range, named as the reference does: `u16`, `u64`, `a nonzero usize`. */
export function integer(name: string, least: bigint, most: bigint): Shape<number> {
  const schema = { type: 'integer', minimum: Number(least), ...(most <= 0xffffn && { maximum: Number(most) }) }
  return {
    schema,
    read(value, path) {
      if (typeof value !== 'bigint') throw wrongType(value, name, path)
      if (value < least || value > most)
        throw fault('invalid_value', `invalid value: integer \`${value}\`, expected ${name}`, path)
      return Number(value)
    },
  }
}

export function oneOf<const V extends string>(...values: readonly V[]): Shape<V> {
  const quoted = values.map((value) => `\`${value}\``)
  const expected = quoted.length > 2 ? `one of ${quoted.join(', ')}` : quoted.join(' or ')
  return {
    schema: { enum: values },
    read(value, path) {
      if (typeof value !== 'string') throw wrongType(value, 'a string', path)
      const found = values.find((allowed) => allowed === value)
      if (found === undefined)
        throw fault('unknown_value', `unknown variant \`${shortened(value)}\`, expected ${expected}`, path, { values })
      return found
    },
  }
}

/** Faults of an item are reported at the list, as in the reference. */
export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return {
    schema: { type: 'array', items: item.schema },
    read(value, path, notes) {
      if (!Array.isArray(value)) throw wrongType(value, 'a sequence', path)
      return value.map((entry: Raw) => item.read(entry, path, notes))
    },
  }
}

/** A table with free names. The result has no prototype. */
export function map<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    schema: { type: 'object', additionalProperties: item.schema },
    read(value, path, notes) {
      if (!isTable(value)) throw wrongType(value, 'a map', path)
      const read: Record<string, T> = Object.create(null)
      for (const [name, entry] of Object.entries(value)) read[name] = item.read(entry, [...path, name], notes)
      return read
    },
  }
}

export type Members = Readonly<Record<string, Shape<unknown>>>
export type ReadMembers<M extends Members> = { readonly [K in keyof M]?: M[K] extends Shape<infer T> ? T : never }

/** A table with fixed members, all optional; others are noted and left out. */
export function table<M extends Members>(members: M): Shape<ReadMembers<M>> {
  const known = Object.keys(members)
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(known.map((name) => [name, members[name]?.schema ?? {}])),
      additionalProperties: false,
    },
    read(value, path, notes) {
      if (!isTable(value)) throw wrongType(value, 'a map', path)
      const read: Record<string, unknown> = {}
      for (const [name, entry] of Object.entries(value)) {
        const shape = Object.hasOwn(members, name) ? members[name] : undefined
        if (shape === undefined) notes.unknown([...path, name], known)
        else read[name] = shape.read(entry, [...path, name], notes)
      }
      return read as ReadMembers<M>
    },
  }
}

/** The same shape with a sentence for editors. */
export function described<T>(shape: Shape<T>, description: string, more: JsonSchema = {}): Shape<T> {
  return { read: shape.read, schema: { ...shape.schema, ...more, description } }
}

/** Members whose texts may be secrets, so that errors don't quote them. */
const SECRET_MEMBERS: readonly string[] = [
  'args',
  'env',
  'http_headers',
  'oauth',
  'bearer_token',
  'auth_bearer_token',
  'url',
]

/** What was found, in the words of the reference's parser. */
function unexpected(value: Raw, path: Path): string {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
      return path.some((part) => SECRET_MEMBERS.includes(part))
        ? 'string'
        : `string ${JSON.stringify(shortened(value, 40))}`
    case 'boolean':
      return `boolean \`${value}\``
    case 'bigint':
      return `integer \`${value}\``
    case 'number':
      return `floating point \`${Number.isInteger(value) ? value.toFixed(1) : value}\``
    default:
      return value instanceof Date ? 'datetime' : Array.isArray(value) ? 'sequence' : 'map'
  }
}
