import type { ConnectionManager } from '../connections/index.js'
import type { ThreadListener } from './thread-listener.js'

/** Tells the servers that are up; whom it does not reach is warned of. */
export async function tellRootsChanged(
  manager: Pick<ConnectionManager, 'capture'>,
  listener: Pick<ThreadListener, 'warn'>,
): Promise<void> {
  const servers = await manager.capture({ wait: 'none' })
  await Promise.all(
    servers.map(async ({ key, client }) => {
      try {
        await client?.notify('notifications/roots/list_changed')
      } catch (error) {
        listener.warn(key, error)
      }
    }),
  )
}
