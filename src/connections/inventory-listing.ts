import { ProtocolViolationError, ReeveError, RpcError } from '../errors.js'
import { HOSTED_APPS_NAME, type ServerKey } from '../identity/index.js'
import { type JsonObject, LIMITS, MODERN_META, RPC } from '../protocol/index.js'
import { narrowestHint, readCacheHint } from './cache-hint.js'
import { mirroredTools } from './eras/mirrored-tools.js'
import { deepFreeze } from './freeze.js'
import type { Inventory } from './inventory.js'
import { LISTS, type Listed, type ListMethod, listAllPages, type SendList } from './listing.js'
import type { Handshake } from './negotiate.js'
import type { CacheHint } from './types.js'
import { wellFormedItems, wellFormedTools } from './well-formed.js'

/** What a `list_changed` can be about. Resources bring their templates along. */
export type InventoryPart = 'tools' | 'resources' | 'prompts'

export interface ListingContext {
  readonly key: ServerKey
  readonly handshake: Handshake
  readonly send: SendList
  /** The server is reached over HTTP. */
  readonly overHttp: boolean
  readonly warn: (warning: ReeveError) => void
  /** Ask also for what the server does not declare: it said itself that this changed. */
  readonly evenUndeclared?: boolean
}

type CachedList = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

/** Members of the inventory that one listing fills in. Frozen. */
export type InventoryMembers = Pick<Inventory, CachedList | 'toolList'> & {
  /** For each list that was asked for; undefined where nothing was said. */
  readonly cacheHints?: Readonly<Partial<Record<CachedList, CacheHint | undefined>>>
}

/**
 * The tools, all pages. A server that does not declare tools is asked all the same, for there are some that forget it;
 * there method-not-found means that it has none.
 */
export async function listTools(
  context: ListingContext,
): Promise<Pick<InventoryMembers, 'tools' | 'toolList' | 'cacheHints'>> {
  const { key, handshake } = context
  try {
    const { items, members, hint } = await list(context, LISTS.tools)
    const wellFormed = wellFormedTools(items, key)
    const mirrors = handshake.era === 'modern' && context.overHttp
    const tools = mirrors ? mirroredTools(wellFormed, key) : wellFormed
    for (const warning of tools.warnings) context.warn(warning)
    const toolList = handshake.era === 'modern' ? withoutEnds(members) : members
    return deepFreeze({
      tools: tools.items,
      ...(Object.keys(toolList).length > 0 && { toolList }),
      cacheHints: { tools: hint },
    })
  } catch (error) {
    if (declares(context.handshake, 'tools') || !isMethodNotFound(error)) throw error
    return Object.freeze({ tools: Object.freeze([]) })
  }
}

/** Resources and their templates. Empty where the server declares none; a listing that fails is a warning. */
export async function listResources(
  context: ListingContext,
): Promise<Pick<InventoryMembers, 'resources' | 'resourceTemplates' | 'cacheHints'>> {
  if (!isAsked(context, 'resources')) return Object.freeze({})
  const [resources, resourceTemplates] = await Promise.all([
    listOrWarn(context, 'resources', 'resources'),
    listOrWarn(context, 'resourceTemplates', 'resources'),
  ])
  return deepFreeze({
    ...(resources && { resources: resources.items }),
    ...(resourceTemplates && { resourceTemplates: resourceTemplates.items }),
    cacheHints: {
      ...(resources && { resources: resources.hint }),
      ...(resourceTemplates && { resourceTemplates: resourceTemplates.hint }),
    },
  })
}

export async function listPrompts(context: ListingContext): Promise<Pick<InventoryMembers, 'prompts' | 'cacheHints'>> {
  if (!isAsked(context, 'prompts')) return Object.freeze({})
  const prompts = await listOrWarn(context, 'prompts', 'prompts')
  return deepFreeze({ ...(prompts && { prompts: prompts.items, cacheHints: { prompts: prompts.hint } }) })
}

/** One part, as a `list_changed` asks for it. */
export function listPart(part: InventoryPart, context: ListingContext): Promise<Partial<InventoryMembers>> {
  if (part === 'tools') return listTools(context)
  return part === 'resources' ? listResources(context) : listPrompts(context)
}

interface ListedItems {
  readonly items: readonly JsonObject[]
  readonly hint: CacheHint | undefined
}

async function listOrWarn(
  context: ListingContext,
  what: 'resources' | 'resourceTemplates' | 'prompts',
  capability: 'resources' | 'prompts',
): Promise<ListedItems | undefined> {
  const method = LISTS[what]
  try {
    const { items, hint } = await list(context, method)
    const kept = wellFormedItems(items, context.key, method.member)
    for (const warning of kept.warnings) context.warn(warning)
    return { items: kept.items, hint }
  } catch (error) {
    // Servers that declare resources often have no templates, and say so with method-not-found.
    if (what === 'resourceTemplates' && isMethodNotFound(error)) return { items: [], hint: undefined }
    if (!declares(context.handshake, capability) && isMethodNotFound(error)) return undefined
    context.warn(listingFailed(context.key, method.method, error))
    return undefined
  }
}

/** All pages, and what a modern server says of keeping them. */
async function list(
  { send, handshake, key }: ListingContext,
  method: ListMethod,
): Promise<Listed & { readonly hint: CacheHint | undefined }> {
  const hints: (CacheHint | undefined)[] = []
  const listed = await listAllPages(
    async (name, params) => {
      const result = await send(name, params)
      hints.push(readCacheHint(result))
      return result
    },
    method,
    mostItems(key, method),
  )
  const isKnown = handshake.era === 'modern' && hints.some((hint) => hint !== undefined)
  return { ...listed, hint: isKnown ? narrowestHint(hints) : undefined }
}

/** The hosted apps are many servers in one (reference: connections, 7.7). */
function mostItems({ name, environment }: ServerKey, { member }: ListMethod): number {
  const isApps = name === HOSTED_APPS_NAME && environment === null && member === 'tools'
  return isApps ? LIMITS.appsListItems : LIMITS.listItems
}

/** Without what a modern result says of itself, which is said anew where it is given. */
function withoutEnds({ resultType: _, ttlMs: __, cacheScope: ___, _meta, ...members }: JsonObject): JsonObject {
  if (typeof _meta !== 'object' || _meta === null || Array.isArray(_meta)) return members
  const { [MODERN_META.serverInfo]: ____, ...meta } = _meta
  return Object.keys(meta).length > 0 ? { ...members, _meta: meta } : members
}

/** Names the listing that failed, and why. */
export function listingFailed(key: ServerKey, method: string, error: unknown): ReeveError {
  const reason = error instanceof Error ? error.message : String(error)
  return new ProtocolViolationError(`MCP server '${key.name}': ${method} failed: ${reason}`, {
    key,
    place: method,
    cause: error,
    ...(error instanceof ReeveError && { data: { code: error.code } }),
  })
}

function isAsked(context: ListingContext, capability: string): boolean {
  return context.evenUndeclared === true || declares(context.handshake, capability)
}

function declares(handshake: Handshake, capability: string): boolean {
  const declared = Object.hasOwn(handshake.capabilities, capability) ? handshake.capabilities[capability] : undefined
  return typeof declared === 'object' && declared !== null
}

function isMethodNotFound(error: unknown): boolean {
  return error instanceof RpcError && error.rpcCode === RPC.methodNotFound
}
