import type { InboundRequest, JsonObject, Peer } from '../../protocol/index.js'
import type { CallOptions } from '../../threads/index.js'
import { isObject } from './params.js'

/**
 * What goes along with a client's request: its cancellation, its progress under the client's own token (of whatever
 * type), and itself as the origin of everything that a server sends meanwhile.
 */
export function callOptions(
  peer: Peer,
  params: JsonObject,
  request: InboundRequest,
  onFault: (error: unknown) => void,
): CallOptions {
  const token = progressToken(params)
  const options = { signal: request.signal, origin: request.id }
  if (token === undefined) return options
  return {
    ...options,
    onProgress: (progress) => {
      const relayed = { ...progress, progressToken: token }
      peer.notify('notifications/progress', relayed, { relatedTo: request.id }).catch(onFault)
    },
  }
}

/** The token under which a request wants progress; undefined when it wants none. */
export function progressToken(params: JsonObject): JsonObject[string] | undefined {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined
  return token === null ? undefined : token
}

/** The members of params that no part of the gateway reads: they go along as they are. */
export function furtherParams(params: JsonObject, read: readonly string[]): { readonly params?: JsonObject } {
  const further = Object.entries(params).filter(([member]) => member !== '_meta' && !read.includes(member))
  return further.length === 0 ? {} : { params: Object.fromEntries(further) }
}
