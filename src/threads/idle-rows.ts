import type { EffectiveServer, ShadowedServer } from '../catalog/index.js'
import type { ServerStatus } from '../connections/index.js'
import { compareKeys, sameKey } from '../identity/index.js'

/** Status rows of the servers that are published, and of those that are not: they wait for the first step, or are hidden. */
export function withIdle(
  published: readonly ServerStatus[],
  servers: readonly EffectiveServer[],
  hidden: readonly ShadowedServer[],
  since: number,
): readonly ServerStatus[] {
  const waiting = servers.filter(({ key }) => !published.some((row) => sameKey(row.key, key)))
  return [
    ...published,
    ...waiting.map((server) => idleRow(server, since)),
    ...hidden.map(({ registration, by }) =>
      Object.freeze({ ...idleRow(registration, since), status: 'disabled' as const, hiddenBy: by }),
    ),
  ].sort((a, b) => compareKeys(a.key, b.key))
}

function idleRow({ key, config, source }: EffectiveServer, since: number): ServerStatus {
  return Object.freeze({
    key,
    status: config.enabled ? ('not_started' as const) : ('disabled' as const),
    required: config.required,
    transport: config.transport.type,
    executionEnvironment: config.environmentId,
    ...(config.transport.type === 'stdio' && config.transport.sandbox && { sandbox: config.transport.sandbox }),
    ...('plugin' in source && { pluginId: source.plugin.id }),
    since,
    cached: false,
  })
}
