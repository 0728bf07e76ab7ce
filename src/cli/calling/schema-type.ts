import type { JsonObject, JsonValue } from '../../protocol/index.js'

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null'

/** What a value of the command line may become. No `types`: anything. */
export interface ValueShape {
  readonly types: ReadonlySet<JsonType>
  /** The only values allowed, when the schema lists them. */
  readonly allowed: readonly JsonValue[] | undefined
  readonly items: JsonObject | undefined
}

const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/** How deep `$ref`, `anyOf`, `oneOf` and `allOf` are followed; a schema that refers to itself ends here. */
const DEPTH = 16

/** Reads as much of a property's JSON Schema as decides how text is converted. Hostile schemas only lose the help. */
export function shapeOf(schema: JsonValue | undefined, root: JsonObject, depth = 0): ValueShape {
  if (!isObject(schema) || depth > DEPTH) return ANYTHING
  if (typeof schema.$ref === 'string') return shapeOf(resolveRef(schema.$ref, root), root, depth + 1)
  const own = ownShape(schema)
  const choices = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat()
  if (choices.length > 0 && own.types.size === 0)
    return either(choices.map((choice) => shapeOf(choice, root, depth + 1)))
  if (Array.isArray(schema.allOf) && own.types.size === 0) {
    return schema.allOf.map((part) => shapeOf(part, root, depth + 1)).find((part) => part.types.size > 0) ?? own
  }
  return own
}

function ownShape(schema: JsonObject): ValueShape {
  const named = Array.isArray(schema.type) ? schema.type : [schema.type]
  const types = new Set(named.filter((type): type is JsonType => typeof type === 'string' && TYPES.has(type)))
  if (schema.nullable === true && types.size > 0) types.add('null')
  const allowed = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const ?? null] : undefined
  if (types.size === 0) for (const value of allowed ?? []) types.add(typeOf(value))
  return { types, allowed, items: isObject(schema.items) ? schema.items : undefined }
}

function either(shapes: readonly ValueShape[]): ValueShape {
  if (shapes.some((shape) => shape.types.size === 0)) return ANYTHING
  return {
    types: new Set(shapes.flatMap((shape) => [...shape.types])),
    allowed: shapes.every((shape) => shape.allowed !== undefined)
      ? shapes.flatMap((shape) => shape.allowed ?? [])
      : undefined,
    items: shapes.find((shape) => shape.items !== undefined)?.items,
  }
}

/** Only references inside the same document are followed. */
function resolveRef(ref: string, root: JsonObject): JsonValue | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let found: JsonValue | undefined = root
  for (const part of ref.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(found)) found = found[Number(name)]
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found
}

export function typeOf(value: JsonValue): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'object' ? 'object' : typeof value === 'string' ? 'string' : 'boolean'
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const ANYTHING: ValueShape = Object.freeze({ types: new Set<JsonType>(), allowed: undefined, items: undefined })
