import type { CacheHint } from '../../connections/index.js'
import { compareSerialised, type ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { KEEP_NOTHING, type ListAllOptions, type Listing, narrowestHint } from '../../threads/index.js'

/** An item as its server sent it, and whose it is. */
export interface OwnedItem {
  readonly key: ServerKey
  readonly item: JsonObject
}

export interface Collected {
  /** Servers in their fixed order, each one's items in its own. */
  readonly items: readonly OwnedItem[]
  /** Nobody's answer is missing who may have one in a moment. */
  readonly isWhole: boolean
  /** A server that is missing may come at any moment: then nothing is to be kept. */
  readonly cacheHint: CacheHint
  readonly failures: readonly { readonly key: ServerKey; readonly error: string }[]
}

/** Everything that all servers list. A server that fails is told aside and hides no other. */
export async function collect(listing: Listing, options: ListAllOptions): Promise<Collected> {
  const { pages, failures, isWhole } = await listing.listAll(options)
  const sorted = [...pages].sort((a, b) => compareSerialised(a.key, b.key))
  const cacheHint = failures.length > 0 || !isWhole ? KEEP_NOTHING : narrowestHint(pages.map((page) => page.cacheHint))
  const items = sorted.flatMap(({ key, items: own }) => own.map((item) => ({ key, item })))
  return { cacheHint, items, failures, isWhole }
}

/** How a listing tells the client about servers that are missing in it; absent when none is. */
export function failuresMeta(failures: Collected['failures']): JsonObject {
  if (failures.length === 0) return {}
  const told = failures.map(({ key, error }) => ({ server: key.name, environment_id: key.environment, error }))
  return { _meta: { 'reeve/failures': told } }
}
