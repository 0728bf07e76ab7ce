import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { isObject } from '../calling/schema-type.js'

/** Above this, models get the tool cut or not at all, and every request pays for it. */
export const LARGE_SCHEMA_BYTES = 200_000

/** Characters of a field's path; what lies deeper is too deep to be of use to anyone, and building paths costs time. */
const DEEPEST_FIELD = 2000

/** A fault of one JSON Schema; `field` is a path from the schema's root, empty for the root. */
export interface SchemaFault {
  readonly code: 'schema_missing' | 'schema_not_object' | 'schema_large' | 'schema_recursive' | 'schema_ref_unresolved'
  readonly field: string
  readonly message: string
}

/** Looks through a tool's schema, whatever it is. Each cycle and each broken reference is named once. */
export function schemaFaults(schema: JsonValue | undefined): SchemaFault[] {
  if (schema === undefined) return [{ code: 'schema_missing', field: '', message: 'is missing' }]
  if (!isObject(schema)) return [notObject('is no JSON Schema object')]
  const faults: SchemaFault[] = []
  if (schema.type !== 'object') faults.push(notObject(`has type ${JSON.stringify(schema.type)} instead of "object"`))
  return [...faults, ...sizeFaults(schema), ...referenceFaults(schema)]
}

function sizeFaults(schema: JsonObject): SchemaFault[] {
  const bytes = bytesOf(schema)
  if (bytes === undefined) return [{ code: 'schema_large', field: '', message: 'is nested too deeply to be sent on' }]
  return bytes > LARGE_SCHEMA_BYTES
    ? [{ code: 'schema_large', field: '', message: `is ${Math.round(bytes / 1000)} kB long` }]
    : []
}

/** Undefined when it is nested beyond what JSON can be written from (parsing goes deeper). */
function bytesOf(schema: JsonObject): number | undefined {
  try {
    return Buffer.byteLength(JSON.stringify(schema))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const notObject = (message: string): SchemaFault => ({ code: 'schema_not_object', field: '', message })

/** Walks every `$ref` depth first, without recursion of ours: a schema may be nested deeper than our stack. */
function referenceFaults(root: JsonObject): SchemaFault[] {
  const faults: SchemaFault[] = []
  const finished = new Set<JsonObject>()
  const open = new Set<JsonObject>()
  const stack: ({ enter: JsonObject; field: string } | { leave: JsonObject })[] = [{ enter: root, field: '' }]
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    if ('leave' in step) {
      open.delete(step.leave)
      finished.add(step.leave)
      continue
    }
    const { enter: node, field } = step
    if (finished.has(node) || open.has(node)) continue
    open.add(node)
    stack.push({ leave: node })
    if (field.length > DEEPEST_FIELD) continue
    for (const [child, childField] of childrenOf(node, field)) stack.push({ enter: child, field: childField })
    const target = typeof node.$ref === 'string' ? targetOf(node.$ref, root) : undefined
    if (target === 'unresolved') faults.push(unresolved(String(node.$ref), field))
    else if (target !== undefined && open.has(target)) faults.push(recursive(String(node.$ref), field))
    else if (target !== undefined) stack.push({ enter: target, field: `${field}.$ref` })
  }
  return faults
}

function childrenOf(node: JsonObject, field: string): [JsonObject, string][] {
  const found: [JsonObject, string][] = []
  const namesAreFree = MAPS.has(field.slice(field.lastIndexOf('.') + 1))
  for (const [name, value] of Object.entries(node)) {
    if (VALUES.has(name) && !namesAreFree) continue
    const at = field === '' ? name : `${field}.${name}`
    if (isObject(value)) found.push([value, at])
    else if (Array.isArray(value))
      for (const [index, item] of value.entries()) if (isObject(item)) found.push([item, `${at}[${index}]`])
  }
  return found
}

/** Keywords whose values are data, where `$ref` is no reference. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples'])

/** Keywords whose members are named by the author: there `default` is a property like any other. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** References by anchor or to other documents are not followed; only broken local pointers are told. */
function targetOf(ref: string, root: JsonObject): JsonObject | 'unresolved' | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return ref.startsWith('#') ? undefined : 'unresolved'
  let found: JsonValue | undefined = root
  for (const part of ref.slice(2).split('/')) {
    const name = unescaped(part)
    if (Array.isArray(found)) found = found[Number(name)]
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  if (isObject(found)) return found
  return found === undefined ? 'unresolved' : undefined
}

function unescaped(part: string): string {
  const pointer = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}

const unresolved = (ref: string, field: string): SchemaFault => ({
  code: 'schema_ref_unresolved',
  field,
  message: `refers to '${ref}', which is not in the schema`,
})

const recursive = (ref: string, field: string): SchemaFault => ({
  code: 'schema_recursive',
  field,
  message: `refers back to itself through '${ref}'`,
})
