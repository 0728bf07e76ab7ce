import { UnknownServerError } from '../../errors.js'
import { sameKey } from '../../identity/index.js'
import type { EffectiveServer, Reeve } from '../../reeve.js'
import { type EnvironmentOption, selectKey, selectorOf } from '../selection.js'

/**
 * The configured server that NAME means; `--env` may name the environment that it runs in, too.
 *
 * @throws UnknownServerError | AmbiguousServerError
 */
export function findLoginServer(reeve: Reeve, name: string, options: EnvironmentOption): EffectiveServer {
  const { env } = options
  const { servers } = reeve
  const placed = servers.find(({ key, config }) => key.name === name && config.environmentId === env)
  if (placed !== undefined) return placed
  const key = selectKey(servers, selectorOf(name, options))
  const found = servers.find((server) => sameKey(server.key, key))
  if (found === undefined) throw new UnknownServerError(key)
  return found
}
