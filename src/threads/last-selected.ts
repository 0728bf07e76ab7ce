import type { EffectiveServer } from '../catalog/index.js'
import type { CapabilityRoot } from '../environments/index.js'
import type { ServerKey } from '../identity/index.js'
import type { ServerSelector } from './types.js'

/**
 * Whom the reference means by a name alone: the server that came with the last of the selected roots. Undefined where it
 * would not have to guess, and where no root brought one (reference: identity-and-names, 8; known-quirks, 4).
 */
export function lastSelectedOwner(
  servers: readonly EffectiveServer[],
  { server, environment }: ServerSelector,
  roots: readonly CapabilityRoot[],
): ServerKey | undefined {
  const named = servers.filter(({ key }) => key.name === server)
  if (environment !== undefined || named.length < 2 || named.some(({ key }) => key.environment === null))
    return undefined
  const ranked = named.map(({ key, source }) => ({
    key,
    rank: roots.findLastIndex(
      (root) => 'plugin' in source && root.id === source.plugin.id && root.environment === key.environment,
    ),
  }))
  ranked.sort((a, b) => b.rank - a.rank)
  const [last] = ranked
  return last !== undefined && last.rank >= 0 ? last.key : undefined
}
