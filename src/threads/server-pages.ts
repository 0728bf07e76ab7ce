import {
  type CacheHint,
  type CapturedServer,
  type CaptureOptions,
  LISTS,
  type ListMethod,
  listAllPages,
  type ReadyClient,
} from '../connections/index.js'
import { OperationTimeoutError, ProtocolViolationError, RpcError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { type JsonObject, type JsonValue, RPC } from '../protocol/index.js'
import { narrowestHint, readCacheHint } from './cache-hint.js'
import type { CallOptions, ListPage, ServerSelector } from './types.js'

/** What a listing needs of its thread. */
export interface ListingHost {
  /** The servers as they are, after a wait as in a step. */
  capture(options: CaptureOptions): Promise<readonly CapturedServer[]>
  /** One server, up. */
  ready(
    selector: ServerSelector,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly key: ServerKey; readonly client: ReadyClient }>
}

/** One kind of thing that servers list, with the capability that says they do. */
export interface ListKind {
  readonly list: ListMethod
  readonly capability: 'resources' | 'prompts'
  readonly cached: 'resources' | 'resourceTemplates' | 'prompts'
}

export const RESOURCES: ListKind = { list: LISTS.resources, capability: 'resources', cached: 'resources' }
export const TEMPLATES: ListKind = {
  list: LISTS.resourceTemplates,
  capability: 'resources',
  cached: 'resourceTemplates',
}
export const PROMPTS: ListKind = { list: LISTS.prompts, capability: 'prompts', cached: 'prompts' }

/** Milliseconds for all pages of one server (reference: connections, 7.7). */
const PAGINATION_TIMEOUT = 30_000

/** @throws ProtocolViolationError, and as the request does */
export async function onePage(
  host: ListingHost,
  { list }: ListKind,
  selector: ServerSelector & { readonly cursor?: string },
  options: CallOptions,
): Promise<ListPage> {
  const { key, client } = await host.ready(selector, options.signal)
  const params: JsonObject = selector.cursor === undefined ? {} : { cursor: selector.cursor }
  const answer = client.request(list.method, params, { timeoutMs: PAGINATION_TIMEOUT, ...options })
  return pageOf(key, list, await orNone(list, answer))
}

/** @throws ProtocolViolationError the result has no items */
export function pageOf(key: ServerKey, list: ListMethod, result: JsonObject): ListPage {
  const next = result.nextCursor
  const cacheHint = readCacheHint(result)
  return {
    key,
    items: objectsOf(key, list, result[list.member]),
    ...(typeof next === 'string' && next !== '' && { nextCursor: next }),
    ...(cacheHint && { cacheHint }),
  }
}

/**
 * All pages of one server, in 30 s at the most.
 *
 * @throws OperationTimeoutError, and as `listAllPages`
 */
export async function allPages(
  key: ServerKey,
  client: ReadyClient,
  list: ListMethod,
  { signal, ...options }: Omit<CallOptions, 'timeoutMs' | 'signal' | 'params'> & { signal: AbortSignal | undefined },
): Promise<Omit<ListPage, 'key'>> {
  const bound = AbortSignal.timeout(PAGINATION_TIMEOUT)
  const both = signal === undefined ? bound : AbortSignal.any([signal, bound])
  const hints: (CacheHint | undefined)[] = []
  const send = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const result = await orNone(list, client.request(method, params, { ...options, signal: both }))
    hints.push(readCacheHint(result))
    return result
  }
  try {
    const { items } = await listAllPages(send, list)
    const known = hints.some((hint) => hint !== undefined)
    return { items: objectsOf(key, list, items), ...(known && { cacheHint: narrowestHint(hints) }) }
  } catch (error) {
    const isLate = bound.aborted && signal?.aborted !== true
    throw isLate ? new OperationTimeoutError(list.method, PAGINATION_TIMEOUT, key) : error
  }
}

/** Servers that have resources often have no templates, and say so with method-not-found. */
async function orNone(list: ListMethod, answer: Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await answer
  } catch (error) {
    if (list !== LISTS.resourceTemplates || !(error instanceof RpcError) || error.rpcCode !== RPC.methodNotFound)
      throw error
    return { [list.member]: [] }
  }
}

export function hasCapability(client: ReadyClient, capability: string): boolean {
  const declared = Object.hasOwn(client.capabilities, capability) ? client.capabilities[capability] : undefined
  return typeof declared === 'object' && declared !== null
}

/** Items that are no objects are not handed on: nobody could address them. */
function objectsOf(
  key: ServerKey,
  list: ListMethod,
  items: JsonValue | readonly JsonValue[] | undefined,
): readonly JsonObject[] {
  if (!Array.isArray(items)) {
    throw new ProtocolViolationError(`${list.method} answered without '${list.member}'`, { key, place: list.method })
  }
  return items.filter((item): item is JsonObject => typeof item === 'object' && item !== null && !Array.isArray(item))
}
