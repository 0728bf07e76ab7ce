import type { JsonObject } from '../../../protocol/index.js'
import { toWire } from '../wire/thread-shapes.js'
import type { SessionTableRow } from './session-table.js'
import type { WorkspaceRow } from './workspaces.js'

/** How a broker is doing. Times in milliseconds since the epoch. Holds no values of variables. */
export interface BrokerStatus {
  readonly pid: number
  readonly version: string
  readonly state: 'serving' | 'leaving' | 'closed'
  readonly startedAt: number
  /** Milliseconds without a client after which it ends. */
  readonly idleMs: number
  /** Bytes. */
  readonly rss: number
  readonly sessions: readonly SessionTableRow[]
  readonly workspaces: readonly WorkspaceRow[]
}

export function brokerStatus(facts: Omit<BrokerStatus, 'pid' | 'rss'>): JsonObject {
  const status: BrokerStatus = { pid: process.pid, rss: process.memoryUsage.rss(), ...facts }
  return toWire(status)
}
