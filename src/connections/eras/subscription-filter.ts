import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { InventoryPart } from '../inventory-listing.js'

/** What one subscription is about: which listings, and which resources by their URI. */
export interface SubscriptionFilter {
  readonly lists: ReadonlySet<InventoryPart>
  readonly uris: ReadonlySet<string>
}

const MEMBERS: readonly (readonly [part: InventoryPart, member: string])[] = [
  ['tools', 'toolsListChanged'],
  ['resources', 'resourcesListChanged'],
  ['prompts', 'promptsListChanged'],
]
const URIS = 'resourceSubscriptions'

/** The listings of which a server says that it tells their changes. */
export function announcedLists(capabilities: JsonObject): ReadonlySet<InventoryPart> {
  const announced = MEMBERS.map(([part]) => part).filter((part) => flag(capabilities[part], 'listChanged'))
  return new Set(announced)
}

export function offersSubscriptions(capabilities: JsonObject): boolean {
  return flag(capabilities.resources, 'subscribe')
}

/** As the `notifications` of `subscriptions/listen`. */
export function writeFilter({ lists, uris }: SubscriptionFilter): JsonObject {
  return {
    ...Object.fromEntries(MEMBERS.filter(([part]) => lists.has(part)).map(([, member]) => [member, true])),
    ...(uris.size > 0 && { [URIS]: [...uris] }),
  }
}

/** What the server acknowledged; what can't be read was not acknowledged. */
export function readFilter(notifications: JsonValue | undefined): SubscriptionFilter {
  const uris = isObject(notifications) ? notifications[URIS] : undefined
  return {
    lists: new Set(MEMBERS.filter(([, member]) => flag(notifications, member)).map(([part]) => part)),
    uris: new Set(Array.isArray(uris) ? uris.filter((uri): uri is string => typeof uri === 'string') : []),
  }
}

export function isEmptyFilter({ lists, uris }: SubscriptionFilter): boolean {
  return lists.size === 0 && uris.size === 0
}

/** Everything of `inner` is in `outer` too. */
export function isWithin(inner: SubscriptionFilter, outer: SubscriptionFilter): boolean {
  return [...inner.lists].every((part) => outer.lists.has(part)) && [...inner.uris].every((uri) => outer.uris.has(uri))
}

function flag(value: JsonValue | undefined, member: string): boolean {
  return isObject(value) && Object.hasOwn(value, member) && value[member] === true
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
