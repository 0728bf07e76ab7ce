import type { JsonObject, JsonValue } from '../../protocol/index.js'

/** The params of an `elicitation/create`, as the server sent them. */
export type ElicitationParams = JsonObject

/** What the server gets: `{action, content?, _meta?}`. */
export type ElicitationAnswer = JsonObject

export function modeOf({ mode }: ElicitationParams): string {
  return typeof mode === 'string' ? mode : 'form'
}

/** A form in the shape of the specification, that asks for nothing: a mere yes or no. */
export function isEmptyForm(params: ElicitationParams): boolean {
  const { requestedSchema } = params
  const schema = requestedSchema === undefined ? {} : asObject(requestedSchema)
  if (modeOf(params) !== 'form' || schema === undefined || hasProperties(schema)) return false
  const { required } = schema
  return required === undefined || (Array.isArray(required) && required.length === 0)
}

/** A form that asks for something; of an opaque one only the properties are looked at. */
export function isFilledForm(params: ElicitationParams): boolean {
  return FORMS.has(modeOf(params)) && hasProperties(params.requestedSchema)
}

/** `openai/form` and its older name carry a schema that is not ours to read. */
const FORMS: ReadonlySet<string> = new Set(['form', 'openai/form', 'openaiForm'])

function hasProperties(schema: JsonValue | undefined): boolean {
  const properties = asObject(schema)?.properties
  if (properties === undefined || properties === null) return false
  // What is no object is no empty form either.
  return asObject(properties) === undefined || Object.keys(properties).length > 0
}

/** A member of the request's `_meta`. */
export function metaOf(params: ElicitationParams, member: string): JsonValue | undefined {
  const meta = asObject(params._meta)
  return meta && Object.hasOwn(meta, member) ? meta[member] : undefined
}

export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}
