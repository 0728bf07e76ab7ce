import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, ServerSelector, Thread } from '../../threads/index.js'
import { type OwnedUri, qualifyUri } from '../uris.js'
import { outgoingMeta } from './call-meta.js'
import { furtherParams } from './call-options.js'
import type { OwnedItem } from './collect.js'
import { qualifyContents, qualifyMember } from './content.js'
import { MergedListing } from './listing.js'
import { isObject, optionalObject, requiredText } from './params.js'
import { ownerOf } from './resource-owner.js'

/** `resources/*` of one client, under qualified URIs. */
export class ResourcesRelay {
  readonly #thread: Thread
  readonly #resources: MergedListing
  readonly #templates: MergedListing
  /** What the client calls a subscribed resource, by its qualified URI: updates must come under the same name. */
  readonly #subscribedAs = new Map<string, string>()

  constructor(thread: Thread) {
    this.#thread = thread
    this.#resources = new MergedListing(thread.resources, {
      member: 'resources',
      present: (owned) => present(owned, 'uri'),
    })
    this.#templates = new MergedListing(thread.resources.templates, {
      member: 'resourceTemplates',
      present: (owned) => present(owned, 'uriTemplate'),
    })
  }

  list(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    return this.#resources.list(params, options)
  }

  listTemplates(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    return this.#templates.list(params, options)
  }

  async read(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    const owned = await this.#owned(params, options)
    const meta = outgoingMeta(optionalObject(params, '_meta'))
    const at = { ...selectorOf(owned), ...(meta && { _meta: meta }) }
    const result = await this.#thread.resources.read(at, { ...furtherParams(params, ['uri']), ...options })
    return qualifyContents(owned.key, result)
  }

  async subscribe(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    const owned = await this.#owned(params, options)
    const qualified = qualifyUri(owned.key, owned.uri)
    // Before the answer: a first update can come earlier.
    this.#subscribedAs.set(qualified, requiredText(params, 'uri'))
    await this.#thread.resources.subscribe(selectorOf(owned), { ...furtherParams(params, ['uri']), ...options })
    return {}
  }

  async unsubscribe(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    const owned = await this.#owned(params, options)
    await this.#thread.resources.unsubscribe(selectorOf(owned), { ...furtherParams(params, ['uri']), ...options })
    this.#subscribedAs.delete(qualifyUri(owned.key, owned.uri))
    return {}
  }

  /** The server and its own URI, of a reference that a client gave. */
  ownerOf(uri: string, options: CallOptions): Promise<OwnedUri> {
    return ownerOf(uri, this.#thread, this.#resources, options)
  }

  /** `notifications/resources/updated` as this client knows the resource. */
  updated(key: ServerKey, params: JsonObject): JsonObject {
    if (typeof params.uri !== 'string') return params
    const qualified = qualifyUri(key, params.uri)
    return { ...params, uri: this.#subscribedAs.get(qualified) ?? qualified }
  }

  #owned(params: JsonObject, options: CallOptions): Promise<OwnedUri> {
    return this.ownerOf(requiredText(params, 'uri'), options)
  }
}

function selectorOf({ key, uri }: OwnedUri): ServerSelector & { uri: string } {
  return { server: key.name, environment: key.environment, uri }
}

function present({ key, item }: OwnedItem, member: 'uri' | 'uriTemplate'): { name: string; wire: JsonObject } {
  const qualified = qualifyMember(key, item, member)
  const wire = isObject(qualified) ? qualified : item
  return { name: String(wire[member]), wire }
}
