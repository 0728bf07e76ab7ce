import type { ConnectionManager } from '../../connections/index.js'
import { sameKey } from '../../identity/index.js'
import type { ThreadConfiguration } from '../composition.js'
import type { OwningAuth } from '../owning-auth.js'
import type { ThreadHost } from '../thread-host.js'
import type { ThreadOptions } from '../types.js'
import { originatorOf } from './hosted-server.js'
import { APPS_KEY, ThreadApps } from './thread-apps.js'

/** The hosted apps of a thread, over its connections. */
export function threadAppsOf(
  { apps: cache, env, firstParty, pool, clientInfo }: ThreadHost,
  { client }: ThreadOptions,
  { apps: settings }: ThreadConfiguration,
  own: {
    readonly threadId: string
    readonly auth: OwningAuth | undefined
    readonly manager: () => ConnectionManager
    readonly onAccount: () => void
  },
): ThreadApps {
  const { manager, ...rest } = own
  const host = {
    ...rest,
    cache,
    env,
    places: firstParty.runtime.places,
    timers: pool.timers,
    originator: originatorOf((client?.clientInfo ?? clientInfo).name),
    userAgent: `${clientInfo.name}/${clientInfo.version}`,
    ready: () => manager().ready(APPS_KEY),
    refresh: (signal: AbortSignal | undefined) => manager().refreshTools(APPS_KEY, signal),
    live: (signal: AbortSignal | undefined) => manager().captureOne(APPS_KEY, signal),
    now: async () => {
      const servers = await manager().capture({ wait: 'none' })
      return servers.find(({ key, live }) => live && sameKey(key, APPS_KEY))
    },
  }
  return new ThreadApps(host, settings)
}
