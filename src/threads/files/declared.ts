import type { JsonObject, JsonValue } from '../../protocol/index.js'

export type OptionalFileField = 'mime_type' | 'file_name'

/** An argument that takes a file, and which of the optional fields its schema has room for, in this order. */
export interface FileParameter {
  readonly name: string
  readonly accepts: readonly OptionalFileField[]
}

const DECLARATION = 'openai/fileParams'
const OPTIONAL = ['mime_type', 'file_name'] as const

/**
 * The arguments that a tool declares in `_meta["openai/fileParams"]`, each once. Names are literal; what is no text, or empty,
 * is ignored (reference: tool-calls, 7).
 */
export function fileParameters(definition: JsonObject): readonly FileParameter[] {
  const declared = member(objectOf(definition._meta), DECLARATION)
  if (!Array.isArray(declared)) return []
  const names = declared.filter((name) => typeof name === 'string' && name !== '') as string[]
  const schema = objectOf(definition.inputSchema) ?? {}
  const properties = objectOf(member(schema, 'properties'))
  return [...new Set(names)].map((name) =>
    Object.freeze({ name, accepts: Object.freeze(acceptedBy(member(properties, name), schema)) }),
  )
}

function acceptedBy(schema: JsonValue | undefined, root: JsonObject): OptionalFileField[] {
  const objects = [...objectSchemas(schema, root, new Set())]
  return OPTIONAL.filter((field) => objects.some((one) => takes(one, field)))
}

/** Every object schema that a value may be held to: through local references, each once, alternatives and items. */
function* objectSchemas(value: JsonValue | undefined, root: JsonObject, seen: Set<string>): Generator<JsonObject> {
  const schema = objectOf(value)
  if (schema === undefined) return
  const ref = member(schema, '$ref')
  if (typeof ref === 'string' && ref.startsWith('#/') && !seen.has(ref)) {
    seen.add(ref)
    yield* objectSchemas(pointed(root, ref.slice(2)), root, seen)
  }
  if (isObjectSchema(schema)) yield schema
  for (const combined of ['anyOf', 'oneOf', 'allOf']) {
    const parts = member(schema, combined)
    if (Array.isArray(parts)) for (const part of parts) yield* objectSchemas(part, root, seen)
  }
  yield* objectSchemas(member(schema, 'items'), root, seen)
}

function isObjectSchema(schema: JsonObject): boolean {
  const type = member(schema, 'type')
  return (
    type === 'object' ||
    (Array.isArray(type) && type.includes('object')) ||
    Object.hasOwn(schema, 'properties') ||
    Object.hasOwn(schema, 'additionalProperties')
  )
}

function takes(schema: JsonObject, field: string): boolean {
  const properties = objectOf(member(schema, 'properties'))
  if (properties !== undefined && Object.hasOwn(properties, field)) return true
  const further = member(schema, 'additionalProperties')
  return further !== false && objectOf(further) === undefined
}

/** A JSON pointer, by own members and array indexes alone. */
function pointed(root: JsonObject, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = root
  for (const part of pointer.split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    at = Array.isArray(at) ? (/^\d+$/.test(name) ? at[Number(name)] : undefined) : member(objectOf(at), name)
  }
  return at
}

export function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

export function member(of: JsonObject | undefined, name: string): JsonValue | undefined {
  return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined
}
