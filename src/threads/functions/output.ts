import { LimitExceededError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { type JsonObject, type JsonValue, LIMITS } from '../../protocol/index.js'

/** Bytes of one answer of a function: as much as one message of a server may have. */
export const OUTPUT_LIMIT = LIMITS.httpMessage

export type ItemsMember = 'resources' | 'resourceTemplates'

/** What one server listed: a page of it, or all. */
export interface ListedOf {
  readonly key: ServerKey
  readonly items: readonly JsonObject[]
  readonly nextCursor?: string
}

/** `multiEnvironment` off: no answer names an environment. */
export interface OutputOptions {
  readonly multiEnvironment: boolean
}

/**
 * Compact JSON text, whole: how much of it a model gets is its host's to say (reference: tool-calls, 9.3).
 *
 * @throws LimitExceededError
 */
export function listAllText(member: ItemsMember, listed: readonly ListedOf[], options: OutputOptions): string {
  return bounded({ [member]: listed.flatMap((one) => entries(one, options)) })
}

/** As {@link listAllText}, for one page of one server. */
export function listOneText(member: ItemsMember, listed: ListedOf, options: OutputOptions): string {
  const { key, nextCursor } = listed
  return bounded({
    ...owner(key, options),
    [member]: entries(listed, options),
    ...(nextCursor !== undefined && { nextCursor }),
  })
}

/** As {@link listAllText}, for a resource. */
export function readText(key: ServerKey, uri: string, contents: readonly JsonValue[], options: OutputOptions): string {
  return bounded({ ...owner(key, options), uri, contents: [...contents] })
}

function owner({ name, environment }: ServerKey, { multiEnvironment }: OutputOptions): JsonObject {
  return { server: name, ...(multiEnvironment && environment !== null && { environment_id: environment }) }
}

/** In the order of the reference; members that it does not show follow as the server sent them. */
const LEADING = ['uri', 'uriTemplate', 'name', 'title', 'description', 'mimeType']

function entries({ key, items }: ListedOf, options: OutputOptions): JsonObject[] {
  const shown = owner(key, options)
  return items.map((item) => ({ ...shown, ...inOrder(item) }))
}

function inOrder(item: JsonObject): JsonObject {
  const members = Object.entries(item)
  const leading = LEADING.flatMap((name) => members.filter(([member]) => member === name))
  return Object.fromEntries([...leading, ...members.filter(([member]) => mayFollow(member))])
}

/** No server may say of its entries that they are another's. */
function mayFollow(member: string): boolean {
  return member !== 'server' && member !== 'environment_id' && !LEADING.includes(member)
}

function bounded(answer: JsonObject): string {
  const text = JSON.stringify(answer)
  if (Buffer.byteLength(text) > OUTPUT_LIMIT) throw new LimitExceededError('the answer of the function', OUTPUT_LIMIT)
  return text
}
