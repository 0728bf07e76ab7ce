import { isHostOwnedApps } from '../catalog/index.js'
import { type ServerKey, sameKey } from '../identity/index.js'
import { orAborted } from './abort.js'
import type { Lease } from './lease.js'
import type { ConnectionSet } from './set.js'
import { offerBasis, type View } from './view.js'

export interface CaptureOptions {
  /**
   * `grace` (default): required servers and those in `required` until their startup ends, the others within the grace
   * that the set shares. `none`: nothing. `all`: every startup. A server that is offered already (up, from the cache, or
   * from before a crash) is not waited for, unless it must be. A server whose environment is recovering gets the grace at most.
   */
  readonly wait?: 'grace' | 'none' | 'all'
  /** Servers that this capture can't do without. */
  readonly required?: readonly ServerKey[]
  /** Servers that are coming back, and are not waited for unless all are. */
  readonly unawaited?: readonly ServerKey[]
  readonly signal?: AbortSignal
}

type EnabledView = View & { readonly lease: Lease }

/** Waits as the options say (reference: connections, 7.2). Failures end a wait like successes; nothing is thrown for them. */
export async function waitForCapture(set: ConnectionSet, options: CaptureOptions): Promise<void> {
  const { wait = 'grace', required = [], unawaited = [], signal } = options
  const starting = set.enabled.filter(({ lease }) => lease.connection.state.state === 'starting')
  if (wait === 'none' || starting.length === 0) return
  if (wait === 'all') return settle(starting, signal)
  const awaited = starting.filter(({ key }) => !unawaited.some((other) => sameKey(key, other)))
  const must = awaited.filter((view) => mustWait(view, required))
  const may = awaited.filter((view) => !must.includes(view) && offerBasis(view) === 'none')
  await Promise.all([settle(must, signal), may.length > 0 && orAborted(set.grace.wait(settle(may)), signal)])
}

/**
 * Nobody waits for an environment that is on its way back beyond the grace. A cached catalog is enough for a required
 * server that says so with `startup_readiness`.
 */
function mustWait(view: EnabledView, required: readonly ServerKey[]): boolean {
  if (view.lease.connection.reach.isRecovering) return false
  if (required.some((key) => sameKey(key, view.key))) return true
  // Nothing is known of them, and a turn without them would be another one (reference: connections, 7.2).
  if (isHostOwnedApps(view.server) && offerBasis(view) === 'none') return true
  const { config } = view.server
  return config.required && !(config.startupReadiness === 'catalog' && offerBasis(view) === 'cached')
}

async function settle(views: readonly EnabledView[], signal?: AbortSignal): Promise<void> {
  await Promise.all(views.map(({ lease }) => lease.connection.settled(signal)))
}
