import { AmbiguousServerError, UnknownServerError } from '../errors.js'
import { type ServerKey, serverKey } from '../identity/index.js'
import type { ServerSelector } from './types.js'

/** A server that can be named, with the environment that it runs in. */
export interface Addressable {
  readonly key: ServerKey
  /** Absent where it makes no difference: only the exact key counts. */
  readonly runsIn?: string
}

/**
 * The registration that a name and an environment mean: the exact key, null for the thread-wide server; else the
 * thread-wide server of that name which runs in this environment (reference: tool-calls, 9.2; known-quirks, row 7).
 */
export function addressed(
  servers: readonly Addressable[],
  name: string,
  environment: string | null,
): ServerKey | undefined {
  const named = servers.filter(({ key }) => key.name === name)
  const exact = named.find(({ key }) => key.environment === environment)
  const there = named.find(({ key, runsIn }) => key.environment === null && runsIn === environment)
  return (exact ?? there)?.key
}

/**
 * Finds the one registration that a selector means. With `environment` given (null included) that decides, see
 * {@link addressed}. With a name alone: the thread-wide server of that name, else its only owner; several owners are
 * refused with the choices (reference: identity-and-names, 8; known-quirks, row 4).
 */
export function selectServer(servers: readonly Addressable[], selector: ServerSelector): ServerKey {
  const { server, environment } = selector
  if (environment !== undefined) {
    const found = addressed(servers, server, environment)
    if (found !== undefined) return found
    const choices = servers.flatMap(({ key }) => (key.name === server ? [key.environment] : []))
    throw new UnknownServerError(serverKey(server, environment), { choices })
  }
  const named = servers.map(({ key }) => key).filter(({ name }) => name === server)
  const shared = named.find((key) => key.environment === null)
  if (shared !== undefined) return shared
  const [only, ...others] = named
  if (only === undefined) throw new UnknownServerError(serverKey(server))
  if (others.length > 0)
    throw new AmbiguousServerError(
      server,
      named.map((key) => key.environment),
    )
  return only
}
