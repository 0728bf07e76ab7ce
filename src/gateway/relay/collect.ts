import { LimitExceededError, ProtocolViolationError, ReeveError } from '../../errors.js'
import { compareSerialised, type ServerKey } from '../../identity/index.js'
import { type JsonObject, LIMITS } from '../../protocol/index.js'
import type { CallOptions, Listing, ListPage } from '../../threads/index.js'

/** An item as its server sent it, and whose it is. */
export interface OwnedItem {
  readonly key: ServerKey
  readonly item: JsonObject
}

export interface ListFailure {
  readonly key: ServerKey
  readonly error: string
}

export interface Collected {
  /** Servers in their fixed order, each one's items in its own. */
  readonly items: readonly OwnedItem[]
  readonly failures: readonly ListFailure[]
}

/** Everything that all servers list, each one to its last page. A server that fails is told aside and hides no other. */
export async function collect(listing: Listing, options: CallOptions): Promise<Collected> {
  const { pages, failures } = await listing.listAll(options)
  const walks = await Promise.all(pages.map((page) => walk(listing, page, options)))
  const items = walks.flatMap((walked) => ('error' in walked ? [] : [walked]))
  return {
    items: items
      .sort((a, b) => compareSerialised(a.key, b.key))
      .flatMap(({ key, items: own }) => own.map((item) => ({ key, item }))),
    failures: [...failures, ...walks.flatMap((walked) => ('error' in walked ? [walked] : []))],
  }
}

interface Walked {
  readonly key: ServerKey
  readonly items: readonly JsonObject[]
}

async function walk(listing: Listing, first: ListPage, options: CallOptions): Promise<Walked | ListFailure> {
  const { key } = first
  const items = [...first.items]
  try {
    let cursor = first.nextCursor
    for (let pages = 1; cursor !== undefined; pages += 1) {
      if (pages >= LIMITS.listPages) throw new LimitExceededError('the number of pages', LIMITS.listPages)
      const page = await listing.list({ server: key.name, environment: key.environment, cursor }, options)
      items.push(...page.items)
      if (page.nextCursor === cursor) throw new ProtocolViolationError('the server repeats a cursor', { key })
      cursor = page.nextCursor
    }
    return { key, items }
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code === 'cancelled') throw error
    return { key, error: error.message }
  }
}

/** How a listing tells the client about servers that are missing in it; absent when none is. */
export function failuresMeta(failures: readonly ListFailure[]): JsonObject {
  if (failures.length === 0) return {}
  const told = failures.map(({ key, error }) => ({ server: key.name, environment_id: key.environment, error }))
  return { _meta: { 'reeve/failures': told } }
}
