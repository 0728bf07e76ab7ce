import { displayKey, type ServerKey } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { invalidParams, isObject, optionalObject } from './params.js'

/**
 * How a client tells two servers of one name apart that stand in different environments. Names and URIs are exact; this is
 * what a model and a person read beside them. What belongs to no environment passes as it came.
 */

/**
 * The member of `_meta` that holds an environment's id: in what is listed and asked, whose it is; in a request about a
 * resource, whose resource is meant (`null`: a thread-wide server's).
 */
export const ENVIRONMENT_META = 'reeve/environment_id'

/** A tool or prompt: its titles, its description and `_meta` name the environment. The exact name is the caller's to set. */
export function markItem({ environment }: ServerKey, item: JsonObject): JsonObject {
  if (environment === null) return withoutMark(item)
  const { title, annotations } = item
  return {
    ...item,
    ...(typeof title === 'string' && { title: within(environment, title) }),
    ...(isObject(annotations) &&
      typeof annotations.title === 'string' && {
        annotations: { ...annotations, title: within(environment, annotations.title) },
      }),
    // First, for what a client shortens it shortens at the end.
    description: describe(environment, item.description),
    _meta: marked(item._meta, environment),
  }
}

/** A resource or template, whose name is for people only: the same, and the name. */
export function markResource(key: ServerKey, item: JsonObject): JsonObject {
  const { environment } = key
  const named = environment !== null && typeof item.name === 'string'
  return markItem(key, named ? { ...item, name: within(environment, String(item.name)) } : item)
}

/** The params of what a server asks: `_meta` names its environment, and so does a text that a person is shown. */
export function markQuestion(key: ServerKey, params: JsonObject): JsonObject {
  const { message } = params
  const named = key.environment !== null && typeof message === 'string'
  return markParams(key, named ? { ...params, message: `${displayKey(key)}: ${message}` } : params)
}

/** The same of a question of our own about a call, whose text may say already where its server stands. */
export function markApproval(key: ServerKey, params: JsonObject): JsonObject {
  const { message } = params
  const isNamed = typeof message === 'string' && message.endsWith(` Environment: ${key.environment}.`)
  return isNamed ? markParams(key, params) : markQuestion(key, params)
}

/** The params of what a server tells: `_meta` names its environment. */
export function markParams({ environment }: ServerKey, params: JsonObject): JsonObject {
  return environment === null ? withoutMark(params) : { ...params, _meta: marked(params._meta, environment) }
}

/**
 * The environment that a request names; undefined when it names none, null for a thread-wide server.
 *
 * @throws RpcError -32602 when it is something else than a text or null
 */
export function namedEnvironment(params: JsonObject): string | null | undefined {
  const meta = optionalObject(params, '_meta')
  if (meta === undefined || !Object.hasOwn(meta, ENVIRONMENT_META)) return undefined
  const id = meta[ENVIRONMENT_META]
  if (id !== null && typeof id !== 'string') throw invalidParams(`'_meta.${ENVIRONMENT_META}' must be a string or null`)
  return id
}

/** Params of a request without the member that was for this side. */
export function withoutMark(params: JsonObject): JsonObject {
  const { _meta } = params
  if (!isObject(_meta) || !Object.hasOwn(_meta, ENVIRONMENT_META)) return params
  const { [ENVIRONMENT_META]: _, ...kept } = _meta
  const { _meta: __, ...rest } = params
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept }
}

function within(environment: string, text: string): string {
  return `${text} (${environment})`
}

function describe(environment: string, description: JsonValue | undefined): string {
  const line = `Environment: ${environment}`
  return typeof description === 'string' && description !== '' ? `${line}\n${description}` : line
}

function marked(meta: JsonValue | undefined, environment: string): JsonObject {
  return { ...(isObject(meta) ? meta : {}), [ENVIRONMENT_META]: environment }
}
