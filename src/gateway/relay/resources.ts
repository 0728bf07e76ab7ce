import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, ServerSelector, Thread } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import { type OwnedUri, qualifyUri } from '../uris.js'
import { outgoingMeta } from './call-meta.js'
import { furtherParams } from './call-options.js'
import type { OwnedItem } from './collect.js'
import { qualifyContents, qualifyMember } from './content.js'
import { markParams, markResource, namedEnvironment, withoutMark } from './environment-marks.js'
import { MergedListing } from './listing.js'
import { isObject, optionalObject, requiredText } from './params.js'
import { callOptionsOf, type RelayOptions } from './relay-options.js'
import { ownerOf } from './resource-owner.js'
import { serverEra } from './server-era.js'

/** `resources/*` of one client, under qualified URIs. */
export class ResourcesRelay {
  readonly #thread: Thread
  readonly #form: ResultForm
  readonly #resources: MergedListing
  readonly #templates: MergedListing
  /** What the client calls a subscribed resource, by its qualified URI: updates must come under the same name. */
  readonly #subscribedAs = new Map<string, string>()

  constructor(thread: Thread, form: ResultForm) {
    this.#thread = thread
    this.#form = form
    const resources = { member: 'resources', present: (owned: OwnedItem) => present(owned, 'uri') }
    this.#resources = new MergedListing(thread.resources, resources, form)
    const templates = { member: 'resourceTemplates', present: (owned: OwnedItem) => present(owned, 'uriTemplate') }
    this.#templates = new MergedListing(thread.resources.templates, templates, form)
  }

  list(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    return this.#resources.list(params, options)
  }

  listTemplates(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    return this.#templates.list(params, options)
  }

  async read(asked: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const owned = await this.#owned(asked, options)
    const params = withoutMark(asked)
    const meta = outgoingMeta(optionalObject(params, '_meta'))
    const at = { ...selectorOf(owned), ...(meta && { _meta: meta }) }
    await options.onBound?.(owned.key)
    const more = { ...furtherParams(params, ['uri']), ...callOptionsOf(options, owned.key) }
    const result = await this.#thread.resources.read(at, more)
    const era = serverEra(this.#thread, owned.key)
    return this.#form.relayed(era, 'resources/read', qualifyContents(owned.key, result))
  }

  async subscribe(params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const owned = await this.#owned(params, options)
    const qualified = qualifyUri(owned.key, owned.uri)
    // Before the answer: a first update can come earlier.
    this.#subscribedAs.set(qualified, requiredText(params, 'uri'))
    const more = { ...furtherParams(params, ['uri']), ...callOptionsOf(options) }
    await this.#thread.resources.subscribe(selectorOf(owned), more)
    return {}
  }

  async unsubscribe(params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const owned = await this.#owned(params, options)
    const more = { ...furtherParams(params, ['uri']), ...callOptionsOf(options) }
    await this.#thread.resources.unsubscribe(selectorOf(owned), more)
    this.#subscribedAs.delete(qualifyUri(owned.key, owned.uri))
    return {}
  }

  /** The server and its own URI, of a reference that a client gave; `environment`: the one that it named beside. */
  ownerOf(uri: string, options: CallOptions, environment?: string | null): Promise<OwnedUri> {
    // A template that is still one: a completion is asked for it.
    const listing = uri.includes('{') ? this.#templates : this.#resources
    return ownerOf({ uri, environment }, this.#thread, listing, options)
  }

  /** `notifications/resources/updated` as this client knows the resource. */
  updated(key: ServerKey, params: JsonObject): JsonObject {
    if (typeof params.uri !== 'string') return params
    const qualified = qualifyUri(key, params.uri)
    return { ...markParams(key, params), uri: this.#subscribedAs.get(qualified) ?? qualified }
  }

  #owned(params: JsonObject, options: CallOptions): Promise<OwnedUri> {
    return this.ownerOf(requiredText(params, 'uri'), options, namedEnvironment(params))
  }
}

function selectorOf({ key, uri }: OwnedUri): ServerSelector & { uri: string } {
  return { server: key.name, environment: key.environment, uri }
}

function present({ key, item }: OwnedItem, member: 'uri' | 'uriTemplate'): { name: string; wire: JsonObject } {
  const qualified = qualifyMember(key, item, member)
  const wire = markResource(key, isObject(qualified) ? qualified : item)
  return { name: String(wire[member]), wire }
}
