import type { ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { Listing } from '../threads/index.js'
import type { ServerFailure } from './showing/failures.js'

export interface Listed {
  readonly key: ServerKey
  readonly item: JsonObject
}

/** Everything that the servers of a thread list, item by item, with those that failed aside. */
export async function listEverything(
  listing: Listing,
  signal: AbortSignal,
): Promise<{ readonly items: readonly Listed[]; readonly failures: readonly ServerFailure[] }> {
  const { pages, failures } = await listing.listAll({ signal })
  return { items: pages.flatMap(({ key, items }) => items.map((item) => ({ key, item }))), failures }
}
