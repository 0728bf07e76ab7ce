import { displayKey, keyText, type ServerKey, sameKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, ServerSelector, Thread } from '../../threads/index.js'
import { type OwnedUri, parseUri, qualifyUri } from '../uris.js'
import type { Collected } from './collect.js'
import { executionEnvironment } from './environment-roots.js'
import type { MergedListing } from './listing.js'
import { invalidParams, isObject } from './params.js'

type Servers = Pick<Thread, 'servers'>
/** What may have to come up before it is known whose something is. */
interface Owners extends Servers {
  readonly environments: readonly { readonly id: string }[]
  step(options: Pick<CallOptions, 'signal'>): Promise<unknown>
  client(selector: ServerSelector, options: Pick<CallOptions, 'signal'>): Promise<unknown>
}

/** A resource as a client names it. */
export interface NamedResource {
  readonly uri: string
  /** The environment that the request names; absent when it names none, null for a thread-wide server. */
  readonly environment?: string | null | undefined
}

/**
 * Whose a URI is. A qualified one says it. A raw one, from a client that knows it from elsewhere, counts when exactly one
 * server can be meant: the only one that lists it, or the only one that has resources, in the environment that the request
 * names if it names one. Otherwise nothing is guessed.
 *
 * @throws RpcError -32602 with the qualified choices in `data.choices`, or for an environment that contradicts the URI.
 */
export async function ownerOf(
  named: NamedResource,
  thread: Owners,
  resources: MergedListing,
  options: CallOptions,
): Promise<OwnedUri> {
  const { uri, environment } = named
  const qualified = parseUri(uri)
  if (qualified !== undefined && (await isThere(thread, qualified.key, options))) {
    requireEnvironment(thread, qualified.key, environment)
    return qualified
  }
  const candidates = await candidatesFor(named, thread, resources, options)
  const [only] = candidates
  if (only !== undefined && candidates.length === 1) return { key: only, uri }
  throw only === undefined || qualified !== undefined ? unknown(uri) : ambiguous(uri, candidates)
}

/**
 * Refuses a server that is not of the environment that a request names. A thread-wide server is of none, and answers to
 * the one that it runs in, too (reference: tool-calls, 9.2).
 *
 * @throws RpcError -32602
 */
export function requireEnvironment(thread: Servers, key: ServerKey, environment: string | null | undefined): void {
  if (isOf(thread, key, environment)) return
  throw invalidParams(`${displayKey(key)} is not of the environment that '_meta' names`, {
    code: 'unknown_server',
    server: key.name,
    environment_id: key.environment,
  })
}

function isOf(thread: Servers, key: ServerKey, environment: string | null | undefined): boolean {
  if (environment === undefined || key.environment === environment) return true
  return key.environment === null && executionEnvironment(thread, key) === environment
}

/** A server of an environment is known once that was looked into, which the first step waits for. */
async function isThere(thread: Owners, key: ServerKey, options: CallOptions): Promise<boolean> {
  const known = () => thread.servers().some((row) => sameKey(row.key, key))
  if (known() || !thread.environments.some(({ id }) => id === key.environment)) return known()
  await thread.step(options)
  return known()
}

/** A named environment is worth waiting for: its servers may be coming up only now. */
async function candidatesFor(
  named: NamedResource,
  thread: Owners,
  resources: MergedListing,
  options: CallOptions,
): Promise<readonly ServerKey[]> {
  const found = await candidatesNow(named, thread, resources, options)
  if (found.length > 0 || named.environment === undefined) return found
  if (!thread.environments.some(({ id }) => id === named.environment)) return []
  await thread.step(options)
  const keys = thread.servers().map(({ key }) => key)
  const ready = narrowed(thread, keys, named.environment).map(({ name, environment }) =>
    thread.client({ server: name, environment }, options),
  )
  await Promise.allSettled(ready)
  options.signal?.throwIfAborted()
  return candidatesNow(named, thread, resources, options)
}

async function candidatesNow(
  { uri, environment }: NamedResource,
  thread: Servers,
  resources: MergedListing,
  options: CallOptions,
): Promise<readonly ServerKey[]> {
  const inPlace = (keys: readonly ServerKey[]) => narrowed(thread, keys, environment)
  const listing = inPlace(listedBy(await resources.known(options), uri))
  if (listing.length > 0) return listing
  const having = inPlace(havingResources(thread))
  if (having.length === 1) return having
  const listingNow = inPlace(listedBy(await resources.fresh(options), uri))
  return listingNow.length > 0 ? listingNow : inPlace(havingResources(thread))
}

/** Servers that the environment contributed come before thread-wide ones that only run there. */
function narrowed(thread: Servers, keys: readonly ServerKey[], environment: string | null | undefined): ServerKey[] {
  const owned = keys.filter((key) => environment === undefined || key.environment === environment)
  return owned.length > 0 ? owned : keys.filter((key) => isOf(thread, key, environment))
}

function listedBy({ items }: Collected, uri: string): ServerKey[] {
  const keys = items.filter(({ item }) => item.uri === uri || item.uriTemplate === uri).map(({ key }) => key)
  return [...new Map(keys.map((key) => [keyText(key), key])).values()]
}

function havingResources(thread: Servers): ServerKey[] {
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
