import { type AccountGrant, type AuthContext, authIdentity, toolCacheKey } from '../../auth/index.js'
import type { Inventory, InventoryFetcher, InventorySlot } from '../../connections/index.js'
import type { AppsCache, AppsCacheEntry, AppsCacheKey } from './cache.js'

export interface SlotFacts {
  readonly context: AuthContext
  readonly baseUrl: string
  readonly productSku: string
}

/** Where the tools of whoever is signed in now are kept; undefined when that is nobody. */
export function accountKey({ context, baseUrl, productSku }: SlotFacts): AppsCacheKey | undefined {
  const identity = authIdentity(context.mode, context.manager.current())
  const { account } = identity
  if (account === null) return undefined
  return Object.freeze({ digest: toolCacheKey(identity, baseUrl, productSku), account })
}

/** The cache as one connection's place. What is fetched under another login than it is for is not kept. */
export function appsSlot(cache: AppsCache, key: AppsCacheKey, facts: SlotFacts): InventorySlot {
  const { manager } = facts.context
  const entry = cache.activate(manager, key)
  const grantNow = () => {
    const now = manager.current()
    return now.state === 'signed_in' && accountKey(facts)?.digest === key.digest ? now.grant : undefined
  }
  return Object.freeze({ get: () => entry.get(), fetcher: () => new Fetcher(entry, grantNow) })
}

class Fetcher implements InventoryFetcher {
  readonly #entry: AppsCacheEntry
  readonly #grantNow: () => AccountGrant | undefined
  #fetch: { readonly ticket: number; readonly grant: AccountGrant } | undefined
  #kept: Inventory['tools'] | undefined

  constructor(entry: AppsCacheEntry, grantNow: () => AccountGrant | undefined) {
    this.#entry = entry
    this.#grantNow = grantNow
  }

  began(): void {
    const grant = this.#grantNow()
    this.#fetch = grant && { ticket: this.#entry.begin(), grant }
  }

  put(inventory: Inventory): void {
    const fetch = this.#fetch
    // Resources that come late bring no new tools.
    if (fetch === undefined || inventory.tools === this.#kept) return
    if (fetch.grant.revoked.aborted || this.#grantNow() !== fetch.grant) return
    this.#kept = inventory.tools
    this.#entry.publish(fetch.ticket, inventory)
  }
}
