import { listEverything } from './list-everything.js'
import { type ListingHost, type ListKind, onePage } from './server-pages.js'
import type { CallOptions, ListAllOptions, Listing, ServerSelector } from './types.js'

/** A listing over the servers of a thread, always by exact key (reference: tool-calls, 9.7). */
export function listing(host: ListingHost, kind: ListKind): Listing {
  return Object.freeze({
    list: (selector: ServerSelector & { readonly cursor?: string }, options: CallOptions = {}) =>
      onePage(host, kind, selector, options),
    listAll: (options: ListAllOptions = {}) => listEverything(host, kind, options),
  })
}
