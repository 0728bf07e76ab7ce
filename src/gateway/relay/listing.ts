import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, ListAllOptions, Listing } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import { type Collected, collect, failuresMeta, type OwnedItem } from './collect.js'
import { type ListedItem, pageAt } from './pages.js'
import { optionalText } from './params.js'

export interface ListingShape {
  /** Of the result: `resources`, `resourceTemplates`, `prompts`. */
  readonly member: string
  /** The item as the client sees it, with a name that is unique among all servers'. */
  readonly present: (owned: OwnedItem) => { readonly name: string; readonly wire: JsonObject }
}

/** Milliseconds that a client waits for a list. What comes later is told by its change. */
const LIST_MS = 3000

/**
 * One kind of listing over all servers of a thread, in pages. The first page asks the servers, further pages belong to
 * the answers that the first one got.
 */
export class MergedListing {
  readonly #listing: Listing
  readonly #shape: ListingShape
  readonly #form: ResultForm
  #collected: Collected | undefined

  constructor(listing: Listing, shape: ListingShape, form: ResultForm) {
    this.#listing = listing
    this.#shape = shape
    this.#form = form
  }

  async list(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    const cursor = optionalText(params, 'cursor')
    const shown = cursor === undefined ? undefined : this.#collected
    const collected = shown ?? (await this.fresh({ ...options, withinMs: LIST_MS }))
    const { items, nextCursor } = pageAt(
      collected.items.map((owned) => this.#item(owned)),
      cursor,
    )
    const listed = {
      ...failuresMeta(collected.failures),
      [this.#shape.member]: items.map((item) => item.wire),
      ...(nextCursor !== undefined && { nextCursor }),
    }
    return this.#form.listed(listed, collected.cacheHint)
  }

  /** As last listed, or asked for now where nothing was, or somebody was missing. */
  async known(options: CallOptions): Promise<Collected> {
    return this.#collected?.isWhole === true ? this.#collected : this.fresh(options)
  }

  async fresh(options: ListAllOptions): Promise<Collected> {
    const collected = await collect(this.#listing, options)
    this.#collected = collected
    return collected
  }

  #item(owned: OwnedItem): ListedItem {
    const { name, wire } = this.#shape.present(owned)
    return { name, wire, size: JSON.stringify(wire).length }
  }
}
