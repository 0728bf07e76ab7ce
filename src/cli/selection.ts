import { nearest } from '../config/index.js'
import { UnknownServerError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { type Addressable, type ServerSelector, selectServer } from '../threads/index.js'
import { UsageError } from './usage.js'

/** `--env ID`: the environment that contributed the server. */
export interface EnvironmentOption {
  readonly env?: string
}

/** The server that NAME and `--env` mean; never taken from a joined string. */
export function selectorOf(name: string, { env }: EnvironmentOption): ServerSelector {
  return env === undefined ? { server: name } : { server: name, environment: env }
}

/** The same where NAME may be left out for all servers. */
export function optionalSelector(name: string | undefined, options: EnvironmentOption): ServerSelector | undefined {
  if (name !== undefined) return selectorOf(name, options)
  if (options.env !== undefined) throw new UsageError('--env goes with the NAME of a server')
  return undefined
}

/**
 * The registration that a selector means.
 * @throws UnknownServerError with the closest name, AmbiguousServerError with the choices
 */
export function selectKey(servers: readonly Addressable[], selector: ServerSelector): ServerKey {
  try {
    return selectServer(servers, selector)
  } catch (error) {
    throw withClosestName(
      error,
      servers.map(({ key }) => key),
    )
  }
}

/** An error about a name that is not there comes with the closest one that is; any other stays as it is. */
export function withClosestName(error: unknown, keys: readonly ServerKey[]): unknown {
  if (!(error instanceof UnknownServerError) || error.key === undefined) return error
  const { name } = error.key
  const suggestion = nearest(
    name,
    keys.map((key) => key.name),
  )
  return suggestion === undefined || suggestion === name ? error : new UnknownServerError(error.key, { suggestion })
}
