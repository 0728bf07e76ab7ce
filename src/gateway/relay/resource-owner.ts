import { keyText, type ServerKey, sameKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import { type OwnedUri, parseUri, qualifyUri } from '../uris.js'
import type { Collected } from './collect.js'
import type { MergedListing } from './listing.js'
import { invalidParams, isObject } from './params.js'

/**
 * Whose a URI is. A qualified one says it. A raw one, from a client that knows it from elsewhere, counts when exactly one
 * server can be meant: the only one that lists it, or the only one that has resources. Otherwise nothing is guessed.
 *
 * @throws RpcError -32602 with the qualified choices in `data.choices`.
 */
export async function ownerOf(
  uri: string,
  thread: Thread,
  resources: MergedListing,
  options: CallOptions,
): Promise<OwnedUri> {
  const qualified = parseUri(uri)
  const known = thread.servers().map((row) => row.key)
  if (qualified !== undefined && known.some((key) => sameKey(key, qualified.key))) return qualified
  const candidates = await candidatesFor(uri, thread, resources, options)
  const [only] = candidates
  if (only !== undefined && candidates.length === 1) return { key: only, uri }
  throw only === undefined || qualified !== undefined ? unknown(uri) : ambiguous(uri, candidates)
}

async function candidatesFor(
  uri: string,
  thread: Thread,
  resources: MergedListing,
  options: CallOptions,
): Promise<readonly ServerKey[]> {
  const listing = listedBy(await resources.known(options), uri)
  if (listing.length > 0) return listing
  const having = havingResources(thread)
  if (having.length === 1) return having
  const listingNow = listedBy(await resources.fresh(options), uri)
  return listingNow.length > 0 ? listingNow : havingResources(thread)
}

function listedBy({ items }: Collected, uri: string): ServerKey[] {
  const keys = items.filter(({ item }) => item.uri === uri).map(({ key }) => key)
  return [...new Map(keys.map((key) => [keyText(key), key])).values()]
}

function havingResources(thread: Thread): ServerKey[] {
  return thread
    .servers()
    .filter(({ capabilities }) => isObject(capabilities?.resources))
    .map((row) => row.key)
}

function unknown(uri: string) {
  return invalidParams(`No server has the resource ${shown(uri)}`, { code: 'unknown_server', uri: shown(uri) })
}

function ambiguous(uri: string, candidates: readonly ServerKey[]) {
  const choices = candidates.map((key) => qualifyUri(key, shown(uri)))
  const data: JsonObject = { code: 'ambiguous_server', uri: shown(uri), choices }
  return invalidParams(
    `The resource ${shown(uri)} can belong to several servers: name one of ${choices.join(', ')}`,
    data,
  )
}

function shown(uri: string): string {
  return uri.length > 500 ? `${uri.slice(0, 500)}…` : uri
}
