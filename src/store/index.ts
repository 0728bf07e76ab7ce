import type { AuditStore, DurableApprovals } from '../authority/index.js'
import type { EraMemory, InventoryCache } from '../connections/index.js'
import type { ReeveError } from '../errors.js'
import type { ThreadMemory } from '../threads/index.js'
import { type AnalyticsQueue, SqliteAnalytics } from './analytics.js'
import { SqliteApprovals } from './approvals.js'
import { SqliteAudit } from './audit.js'
import { openDatabase } from './database.js'
import { SqliteEras } from './eras.js'
import { SqliteInventories } from './inventories.js'
import { SqliteThreads } from './threads.js'

export type { AnalyticsLimits, AnalyticsQueue, AnalyticsQueueOwner, QueuedEvent } from './analytics.js'

export { FileAppsCache } from './apps-cache.js'

/** The durable state of one home. */
export interface Store extends Disposable {
  readonly inventories: InventoryCache
  readonly eras: EraMemory
  readonly threads: ThreadMemory
  readonly approvals: DurableApprovals
  readonly audit: AuditStore
  readonly analytics: AnalyticsQueue
  /** What was wrong with the file on disk; already dealt with. */
  readonly warnings: readonly ReeveError[]
  close(): void
}

/**
 * Opens `state.sqlite` (SQLite, WAL: several processes may have it open).
 *
 * @example
 * ```ts
 * using store = openStore(join(home, 'state.sqlite'))
 * const cached = store.inventories.get(identity)
 * ```
 */
export function openStore(file: string): Store {
  const { connection, warnings } = openDatabase(file)
  const close = () => {
    if (connection.open) connection.close()
  }
  return {
    inventories: new SqliteInventories(connection),
    eras: new SqliteEras(connection),
    threads: new SqliteThreads(connection),
    approvals: new SqliteApprovals(connection),
    audit: new SqliteAudit(connection),
    analytics: new SqliteAnalytics(connection),
    warnings,
    close,
    [Symbol.dispose]: close,
  }
}
