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
  const token = isObject(params._meta) ? params._meta.progressToken : undefined
  const options = { signal: request.signal, origin: request.id }
  if (token === undefined || token === null) return options
  return {
    ...options,
    onProgress: (progress) => {
      const relayed = { ...progress, progressToken: token }
      peer.notify('notifications/progress', relayed, { relatedTo: request.id }).catch(onFault)
    },
  }
}
