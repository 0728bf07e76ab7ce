import type { Inventory } from './inventory.js'
import type { InventoryMembers, InventoryPart } from './inventory-listing.js'

/** The members that each part of an inventory fills in. */
export const PART_MEMBERS = {
  tools: ['tools'],
  resources: ['resources', 'resourceTemplates'],
  prompts: ['prompts'],
} as const satisfies Record<InventoryPart, readonly (keyof Inventory)[]>

/** An inventory with newly listed members in it. What was said of keeping the others stays. */
export function withMembers(
  base: Omit<Inventory, 'tools'>,
  tools: Pick<InventoryMembers, 'tools' | 'toolList' | 'cacheHints'>,
  ...others: readonly (Partial<InventoryMembers> | undefined)[]
): Inventory {
  const parts = [tools, ...others]
  const hints = Object.assign({}, base.cacheHints, ...parts.map((part) => part?.cacheHints))
  const known = Object.entries(hints).filter(([, hint]) => hint !== undefined)
  const { cacheHints: _, ...rest }: Inventory = Object.assign({ ...base, tools: tools.tools }, ...parts)
  return Object.freeze({ ...rest, ...(known.length > 0 && { cacheHints: Object.freeze(Object.fromEntries(known)) }) })
}

/** What stays of an inventory when one of its parts is listed anew. */
export function without(part: InventoryPart, inventory: Inventory): Inventory {
  if (part !== 'tools') return inventory
  const { toolList: _, ...rest } = inventory
  return rest
}

/** How long a part may be taken as it is, in milliseconds; undefined where the server sets no time. */
export function lifetimeOf(part: InventoryPart, { cacheHints }: Inventory): number | undefined {
  const times = PART_MEMBERS[part].flatMap((list) => cacheHints?.[list]?.ttlMs ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}
