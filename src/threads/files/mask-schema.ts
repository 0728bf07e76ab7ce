import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { fileParameters, member, objectOf } from './declared.js'

/** What a model is told beside the tool's own words. */
export const FILE_GUIDANCE =
  'Give the absolute path of a local file: it is read and uploaded, and the tool gets the uploaded file instead.'

/**
 * A tool as a model is shown it: the schema of each argument that takes a file says that a path is expected, and nothing else
 * (reference: tool-calls, 7). Without such an argument it is the same object.
 */
export function maskedTool(definition: JsonObject): JsonObject {
  const schema = objectOf(definition.inputSchema)
  const properties = objectOf(member(schema, 'properties'))
  const names = fileParameters(definition).flatMap(({ name }) =>
    properties !== undefined && Object.hasOwn(properties, name) ? [name] : [],
  )
  if (schema === undefined || properties === undefined || names.length === 0) return definition
  const shown = Object.entries(properties).map(([name, property]): [string, JsonValue] => [
    name,
    names.includes(name) ? pathSchema(objectOf(property) ?? {}) : property,
  ])
  const inputSchema = Object.freeze({ ...schema, properties: Object.freeze(Object.fromEntries(shown)) })
  return Object.freeze({ ...definition, inputSchema })
}

function pathSchema(property: JsonObject): JsonObject {
  const text = member(property, 'description')
  const description = typeof text === 'string' && text.trim() !== '' ? withGuidance(text) : FILE_GUIDANCE
  const type = member(property, 'type')
  const isList = type === 'array' || Object.hasOwn(property, 'items')
  return Object.freeze({ description, ...(isList ? LIST : { type: 'string' }) })
}

const LIST = Object.freeze({ type: 'array', items: Object.freeze({ type: 'string' }) })

function withGuidance(text: string): string {
  return text.includes(FILE_GUIDANCE) ? text : `${text.trimEnd()} ${FILE_GUIDANCE}`
}
