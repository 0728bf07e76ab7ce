import { AmbiguousServerError, UnknownServerError } from '../errors.js'
import { type ServerKey, serverKey } from '../identity/index.js'
import type { ServerSelector } from './types.js'

/**
 * Finds the one registration that a selector means. With `environment` given (null included) the key is exact. With a
 * name alone: the thread-wide server of that name, else its only owner; several owners are refused with the choices
 * (reference: identity-and-names, 8; known-quirks, row 4).
 */
export function selectServer(keys: readonly ServerKey[], selector: ServerSelector): ServerKey {
  const named = keys.filter((key) => key.name === selector.server)
  if (selector.environment !== undefined) {
    const exact = named.find((key) => key.environment === selector.environment)
    if (exact === undefined) throw new UnknownServerError(serverKey(selector.server, selector.environment))
    return exact
  }
  const shared = named.find((key) => key.environment === null)
  if (shared !== undefined) return shared
  const [only, ...others] = named
  if (only === undefined) throw new UnknownServerError(serverKey(selector.server))
  if (others.length > 0)
    throw new AmbiguousServerError(
      selector.server,
      named.map((key) => key.environment),
    )
  return only
}
