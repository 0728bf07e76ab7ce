import { LOCAL_ENVIRONMENT, sameKey } from '../../identity/index.js'
import type { Reeve } from '../../reeve.js'
import { type EnvironmentOption, selectKey, selectorOf } from '../selection.js'

/**
 * The server that NAME means, of the configuration or of the environment that `--env` names, which is connected to for that.
 *
 * @throws UnknownServerError with the closest name, AmbiguousServerError; what the environment raises
 */
export async function findLoginServer(reeve: Reeve, name: string, options: EnvironmentOption, signal: AbortSignal) {
  const selector = selectorOf(name, options)
  const { env } = options
  if (env !== undefined && env !== LOCAL_ENVIRONMENT) return reeve.find(selector, signal)
  const key = selectKey(reeve.servers, { server: name })
  return reeve.servers.find((server) => sameKey(server.key, key)) ?? reeve.find(selector, signal)
}
