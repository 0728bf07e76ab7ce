import { LimitExceededError, ProtocolViolationError } from '../errors.js'
import { type JsonObject, type JsonValue, LIMITS } from '../protocol/index.js'

/** A listing of the protocol: its method and the member of the result that holds the items. */
export interface ListMethod {
  readonly method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list'
  readonly member: 'tools' | 'resources' | 'resourceTemplates' | 'prompts'
}

export const LISTS = {
  tools: { method: 'tools/list', member: 'tools' },
  resources: { method: 'resources/list', member: 'resources' },
  resourceTemplates: { method: 'resources/templates/list', member: 'resourceTemplates' },
  prompts: { method: 'prompts/list', member: 'prompts' },
} as const satisfies Record<string, ListMethod>

export interface Listed {
  readonly items: readonly JsonValue[]
  /** What the pages hold beside the items, of the first one that has it. */
  readonly members: JsonObject
}

export type SendList = (method: string, params: JsonObject) => Promise<JsonObject>

/**
 * All pages of a listing (reference: connections, 7.7). Breaking any limit fails the whole listing: half a list would
 * hide tools without saying so.
 *
 * @param most items that it may have; 2,048 unless said otherwise
 * @throws {LimitExceededError} more than 100 pages or `most` items, or a cursor over 64 KiB
 * @throws {ProtocolViolationError} a result without its items, or a cursor that was given before
 */
export async function listAllPages(send: SendList, list: ListMethod, most: number = LIMITS.listItems): Promise<Listed> {
  const items: JsonValue[] = []
  const cursors = new Set<string>()
  let members: JsonObject = {}
  let cursor: string | undefined
  for (let page = 1; ; page += 1) {
    const result = await send(list.method, cursor === undefined ? {} : { cursor })
    addItems(items, result, list, most)
    const { [list.member]: _, nextCursor: next, ...others } = result
    members = { ...others, ...members }
    cursor = nextCursor(next, list)
    if (cursor === undefined) return { items, members }
    if (cursors.has(cursor)) throw violation(list, 'gave the same cursor twice')
    if (page >= LIMITS.listPages) throw limit(`pages of ${list.method}`, LIMITS.listPages, list)
    cursors.add(cursor)
  }
}

function addItems(items: JsonValue[], result: JsonObject, list: ListMethod, most: number): void {
  const page = result[list.member]
  if (!Array.isArray(page)) throw violation(list, `answered without '${list.member}'`)
  if (items.length + page.length > most) throw limit(`items of ${list.method}`, most, list)
  for (const item of page) items.push(item)
}

/** Null and the empty text end a listing too: servers send them for "no more". */
function nextCursor(value: JsonValue | undefined, list: ListMethod): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw violation(list, 'gave a cursor that is no text')
  if (Buffer.byteLength(value) > LIMITS.cursor) throw limit(`cursor of ${list.method}`, LIMITS.cursor, list)
  return value
}

function violation(list: ListMethod, what: string): ProtocolViolationError {
  return new ProtocolViolationError(`${list.method} ${what}`, { place: list.method })
}

function limit(what: string, value: number, list: ListMethod): LimitExceededError {
  return new LimitExceededError(what, value, { place: list.method })
}
