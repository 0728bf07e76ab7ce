import { deepFreeze } from './freeze.js'
import type { InventoryCache, StoredInventory } from './inventory.js'

/** What the durable cache has for an identity, frozen; nothing where it is not what was put there. */
export function cachedInventory(
  cache: InventoryCache | undefined,
  identity: string | undefined,
): StoredInventory | undefined {
  if (cache === undefined || identity === undefined) return undefined
  const stored = cache.get(identity)
  return stored !== undefined && isUsable(stored) ? deepFreeze(stored) : undefined
}

/** The file may have been written by another version, or by somebody else. */
function isUsable({ inventory: { tools, capabilities, serverInfo } }: StoredInventory): boolean {
  return (
    Array.isArray(tools) && tools.every(isNamed) && typeof capabilities === 'object' && typeof serverInfo === 'object'
  )
}

function isNamed(tool: unknown): boolean {
  return typeof tool === 'object' && tool !== null && 'name' in tool && typeof tool.name === 'string'
}
