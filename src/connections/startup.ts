import type { EffectiveServer } from '../catalog/index.js'
import type { ReeveError } from '../errors.js'
import { checkServerName } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { abortError, orAborted } from './abort.js'
import type { ActiveTime } from './active-time.js'
import type { Closings } from './closings.js'
import type { Inventory } from './inventory.js'
import {
  type InventoryMembers,
  type ListingContext,
  listPrompts,
  listResources,
  listTools,
} from './inventory-listing.js'
import type { Handshake } from './negotiate.js'
import type { TransportOpener } from './opener.js'
import { Session, type SessionHandlers } from './session.js'
import { StartupDeadline } from './startup-deadline.js'
import { DEFAULT_STARTUP_TIMEOUT, type StoredAuthState, startupFailure } from './startup-failure.js'
import type { Timers } from './timers.js'
import type { ClientProfile } from './types.js'

/** Milliseconds of one request of a listing that no startup deadline covers. */
export const LISTING_TIMEOUT = 30_000
/** How long a startup waits for resources and prompts once the tools are known. */
const SIDE_LISTING_PATIENCE = 2_000

/** All that is needed to make one session of a server, again and again. */
export interface Recipe {
  readonly server: EffectiveServer
  readonly profile: ClientProfile
  readonly open: TransportOpener
  readonly timers: Timers
  readonly active: ActiveTime
  readonly handlers: SessionHandlers
  readonly closings: Closings
  /** What is stored for its OAuth, for the wording of a failure. */
  readonly authState?: (server: EffectiveServer) => StoredAuthState | undefined
}

export interface OpenedSession {
  readonly session: Session
  readonly handshake: Handshake
}

export interface StartedSession extends OpenedSession {
  readonly inventory: Inventory
  readonly warnings: readonly ReeveError[]
  /** Resources and prompts that were not there in time. Never rejects. */
  readonly late: Promise<LateMembers> | undefined
}

export interface LateMembers {
  readonly resources: Partial<InventoryMembers>
  readonly prompts: Partial<InventoryMembers>
  readonly warnings: readonly ReeveError[]
}

/**
 * From nothing to a server whose tools are known, within its startup timeout in all. Leaves nothing open when it fails.
 *
 * @throws {StartupFailedError} with the display text
 * @throws {CancelledError} when `signal` fires
 */
export function startUp(recipe: Recipe, signal: AbortSignal): Promise<StartedSession> {
  return inTime(recipe, signal, async (deadline) => {
    checkServerName(recipe.server.key.name, recipe.server.key)
    const opened = await openWithin(recipe, deadline)
    deadline.phase = 'listing'
    try {
      return await orAborted(listWhole(recipe, opened, deadline.signal), deadline.signal)
    } catch (error) {
      recipe.closings.add(opened.session.close())
      throw error
    }
  })
}

/** A new session without a listing, to go on from an expired one (reference: connections, 10.10). Throws as `startUp`. */
export function openAgain(recipe: Recipe, signal: AbortSignal): Promise<OpenedSession> {
  return inTime(recipe, signal, (deadline) => openWithin(recipe, deadline))
}

async function inTime<T>(
  recipe: Recipe,
  signal: AbortSignal,
  work: (deadline: StartupDeadline) => Promise<T>,
): Promise<T> {
  const { server, timers } = recipe
  const deadline = new StartupDeadline(timers, server.config.startupTimeoutMs ?? DEFAULT_STARTUP_TIMEOUT, signal)
  try {
    return await work(deadline)
  } catch (error) {
    if (signal.aborted) throw abortError(signal)
    throw startupFailure(server, error, deadline.phase, recipe.authState?.(server))
  } finally {
    deadline.dispose()
  }
}

async function openWithin(recipe: Recipe, deadline: StartupDeadline): Promise<OpenedSession> {
  const { server, open, active, handlers, closings } = recipe
  const { signal } = deadline
  if (signal.aborted) throw abortError(signal)
  const transport = await orAborted(open(server, { signal }), signal, (late) => closings.add(late.close()))
  deadline.phase = 'handshake'
  const attribution = server.config.transport.type === 'stdio' ? 'sole' : 'stream'
  const session = new Session(server.key, transport, attribution, active, handlers)
  try {
    return { session, handshake: await orAborted(session.begin(recipe.profile, signal), signal) }
  } catch (error) {
    recipe.closings.add(session.close())
    throw error
  }
}

async function listWhole(recipe: Recipe, opened: OpenedSession, signal: AbortSignal): Promise<StartedSession> {
  const { session, handshake } = opened
  const { key } = recipe.server
  const send = (method: string, params: JsonObject) =>
    session.request(method, params, { signal, timeoutMs: LISTING_TIMEOUT })
  const warnings: ReeveError[] = []
  const context: ListingContext = { key, handshake, send, warn: (warning) => warnings.push(warning) }
  const aside = listAside({ key, handshake, send })
  const tools = await listTools(context)
  const inTime = await within(recipe.timers, SIDE_LISTING_PATIENCE, aside)
  return {
    ...opened,
    inventory: Object.freeze({ ...inventoryHead(handshake), ...tools, ...inTime?.resources, ...inTime?.prompts }),
    warnings: [...warnings, ...(inTime?.warnings ?? [])],
    late: inTime === undefined ? aside : undefined,
  }
}

async function listAside(context: Omit<ListingContext, 'warn'>): Promise<LateMembers> {
  const warnings: ReeveError[] = []
  const collecting = { ...context, warn: (warning: ReeveError) => void warnings.push(warning) }
  const [resources, prompts] = await Promise.all([listResources(collecting), listPrompts(collecting)])
  return { resources, prompts, warnings }
}

function inventoryHead({ protocolVersion, serverInfo, capabilities, instructions }: Handshake) {
  return { protocolVersion, serverInfo, capabilities, ...(instructions !== undefined && { instructions }) }
}

function within<T>(timers: Timers, ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = timers.after(ms, () => resolve(undefined))
    work.then(resolve, reject).finally(() => timer.cancel())
  })
}
