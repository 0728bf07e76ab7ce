import { ProtocolViolationError, ReeveError, RpcError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { type JsonObject, RPC } from '../protocol/index.js'
import { deepFreeze } from './freeze.js'
import type { Inventory } from './inventory.js'
import { LISTS, listAllPages, type SendList } from './listing.js'
import type { Handshake } from './negotiate.js'
import { wellFormedItems, wellFormedTools } from './well-formed.js'

/** What a `list_changed` can be about. Resources bring their templates along. */
export type InventoryPart = 'tools' | 'resources' | 'prompts'

export interface ListingContext {
  readonly key: ServerKey
  readonly handshake: Handshake
  readonly send: SendList
  readonly warn: (warning: ReeveError) => void
  /** Ask also for what the server does not declare: it said itself that this changed. */
  readonly evenUndeclared?: boolean
}

/** Members of the inventory that one listing fills in. Frozen. */
export type InventoryMembers = Pick<Inventory, 'tools' | 'toolListMeta' | 'resources' | 'resourceTemplates' | 'prompts'>

/**
 * The tools, all pages. A server that does not declare tools is asked all the same, for there are some that forget it;
 * there method-not-found means that it has none.
 */
export async function listTools(context: ListingContext): Promise<Pick<Inventory, 'tools' | 'toolListMeta'>> {
  try {
    const { items, meta } = await listAllPages(context.send, LISTS.tools)
    const tools = wellFormedTools(items, context.key)
    for (const warning of tools.warnings) context.warn(warning)
    return deepFreeze({ tools: tools.items, ...(meta && { toolListMeta: meta }) })
  } catch (error) {
    if (declares(context.handshake, 'tools') || !isMethodNotFound(error)) throw error
    return Object.freeze({ tools: Object.freeze([]) })
  }
}

/** Resources and their templates. Empty where the server declares none; a listing that fails is a warning. */
export async function listResources(
  context: ListingContext,
): Promise<Pick<Inventory, 'resources' | 'resourceTemplates'>> {
  if (!isAsked(context, 'resources')) return Object.freeze({})
  const [resources, resourceTemplates] = await Promise.all([
    listOrWarn(context, 'resources', 'resources'),
    listOrWarn(context, 'resourceTemplates', 'resources'),
  ])
  return deepFreeze({ ...(resources && { resources }), ...(resourceTemplates && { resourceTemplates }) })
}

export async function listPrompts(context: ListingContext): Promise<Pick<Inventory, 'prompts'>> {
  if (!isAsked(context, 'prompts')) return Object.freeze({})
  const prompts = await listOrWarn(context, 'prompts', 'prompts')
  return deepFreeze({ ...(prompts && { prompts }) })
}

/** One part, as a `list_changed` asks for it. */
export function listPart(part: InventoryPart, context: ListingContext): Promise<Partial<InventoryMembers>> {
  if (part === 'tools') return listTools(context)
  return part === 'resources' ? listResources(context) : listPrompts(context)
}

async function listOrWarn(
  context: ListingContext,
  what: 'resources' | 'resourceTemplates' | 'prompts',
  capability: 'resources' | 'prompts',
): Promise<readonly JsonObject[] | undefined> {
  const list = LISTS[what]
  try {
    const { items } = await listAllPages(context.send, list)
    const kept = wellFormedItems(items, context.key, list.member)
    for (const warning of kept.warnings) context.warn(warning)
    return kept.items
  } catch (error) {
    // Servers that declare resources often have no templates, and say so with method-not-found.
    if (what === 'resourceTemplates' && isMethodNotFound(error)) return []
    if (!declares(context.handshake, capability) && isMethodNotFound(error)) return undefined
    context.warn(listingFailed(context.key, list.method, error))
    return undefined
  }
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
