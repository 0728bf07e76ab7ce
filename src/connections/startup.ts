import { withRebuild } from '../auth/index.js'
import type { EffectiveServer } from '../catalog/index.js'
import type { Environment } from '../environments/index.js'
import type { ReeveError } from '../errors.js'
import { checkServerName } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { abortError, orAborted } from './abort.js'
import type { ActiveTime } from './active-time.js'
import type { Closings } from './closings.js'
import { environmentFault } from './environment-fault.js'
import type { EraKnowledge } from './eras/knowledge.js'
import { concernsAuthorization } from './eras/verdict.js'
import type { Inventory } from './inventory.js'
import {
  type InventoryMembers,
  type ListingContext,
  listPrompts,
  listResources,
  listTools,
} from './inventory-listing.js'
import { withMembers } from './inventory-parts.js'
import type { SendList } from './listing.js'
import type { Handshake } from './negotiate.js'
import type { TransportOpener } from './opener.js'
import { Session, type SessionHandlers } from './session.js'
import type { SessionMemory } from './session-memory.js'
import { StartupDeadline } from './startup-deadline.js'
import { DEFAULT_STARTUP_TIMEOUT, type StoredAuthState, startupFailure } from './startup-failure.js'
import type { Timers } from './timers.js'
import type { ClientProfile } from './types.js'

/** Milliseconds of one request of a listing that no startup deadline covers. */
export const LISTING_TIMEOUT = 30_000

/** How a listing is asked for: it carries a progress token, as in the reference (tool-calls, 5.3), though nobody watches. */
export const LISTING = Object.freeze({ timeoutMs: LISTING_TIMEOUT, onProgress: () => {} })
/** How long a startup waits for resources and prompts once the tools are known. */
const SIDE_LISTING_PATIENCE = 2_000
/** How long a server may leave the question for its era unanswered, and at most which part of its startup. */
const PROBE_PATIENCE = { ms: 2_000, part: 1 / 3 } as const

/** All that is needed to make one session of a server, again and again. */
export interface Recipe {
  readonly server: EffectiveServer
  readonly profile: ClientProfile
  readonly open: TransportOpener
  /** Where the server runs, where that is known. */
  readonly environment: Environment | undefined
  readonly timers: Timers
  readonly active: ActiveTime
  readonly handlers: SessionHandlers
  readonly closings: Closings
  readonly eras: EraKnowledge
  readonly memory: SessionMemory
  /** The live definition of a tool. */
  readonly tool: (name: string) => JsonObject | undefined
  /** What is stored for its OAuth, for the wording of a failure. */
  readonly authState?: (server: EffectiveServer) => StoredAuthState | undefined
  /** For whom, for that wording too; absent: the local user. */
  readonly principal?: string
  /** Told before the tools are listed. */
  readonly began?: () => void
}

export interface OpenedSession {
  readonly session: Session
  readonly handshake: Handshake
  /** The first page of the tools, where it was asked for along with the handshake. */
  readonly firstTools: Promise<JsonObject> | undefined
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
    return anewOnce(() => openAndList(recipe, deadline))
  })
}

async function openAndList(recipe: Recipe, deadline: StartupDeadline): Promise<StartedSession> {
  deadline.phase = 'opening'
  // The first page may be asked for along with the handshake.
  recipe.began?.()
  const opened = await openWithin(recipe, deadline)
  deadline.phase = 'listing'
  try {
    return await orAborted(listWhole(recipe, opened, deadline.signal), deadline.signal)
  } catch (error) {
    recipe.closings.add(opened.session.close())
    throw error
  }
}

/** A credential that changed under the handshake or a listing left it unsent: another transport has the new one. */
function anewOnce<T>(open: () => Promise<T>): Promise<T> {
  return withRebuild(
    async () => open,
    (attempt) => attempt(),
    async () => {},
  )
}

/** A new session without a listing, to go on from an expired one (reference: connections, 10.10). Throws as `startUp`. */
export function openAgain(recipe: Recipe, signal: AbortSignal): Promise<OpenedSession> {
  return inTime(recipe, signal, (deadline) => anewOnce(() => openWithin(recipe, deadline)))
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
    throw startupFailure(server, error, deadline.phase, recipe.authState?.(server), recipe.principal)
  } finally {
    deadline.dispose()
  }
}

/** A process that does not survive the question for its era is started once more, and not asked. */
async function openWithin(recipe: Recipe, deadline: StartupDeadline): Promise<OpenedSession> {
  const asked = await openOnce(recipe, deadline, true)
  if (asked.opened !== undefined) return asked.opened
  deadline.phase = 'opening'
  const { opened, error } = await openOnce(recipe, deadline, false)
  if (opened === undefined) throw error
  return opened
}

type Opened =
  | { readonly opened: OpenedSession; readonly error?: undefined }
  | { readonly opened?: undefined; readonly error: unknown }

/** Resolves to the error when the process ended on being asked; everything else that goes wrong is raised. */
async function openOnce(recipe: Recipe, deadline: StartupDeadline, mayProbe: boolean): Promise<Opened> {
  const { server, open, closings, eras, timers } = recipe
  const { transport: kind } = server.config
  const { signal } = deadline
  if (signal.aborted) throw abortError(signal)
  const transport = await orAborted(open(server, { signal, tool: recipe.tool }), signal, (late) =>
    closings.add(late.close()),
  )
  deadline.phase = 'handshake'
  const streams = kind.type === 'stdio' ? 'shared' : 'own'
  const session = new Session({
    ...recipe,
    key: server.key,
    transport,
    streams,
    onRevisionRefused: () => eras.forget(),
  })
  // The older of the HTTP transports is older than the question.
  const asks = mayProbe && kind.type !== 'sse'
  const probed = asks && eras.unknown
  try {
    const begun = session.begin({ eras, timers, signal, mayProbe: asks, probeMs: probePatience(server) })
    return { opened: { session, ...(await orAborted(begun, signal)) } }
  } catch (error) {
    closings.add(session.close())
    if (!signal.aborted && !concernsAuthorization(error)) eras.forget()
    const endedByItself = session.ended && !signal.aborted && environmentFault(error) === undefined
    if (probed && kind.type === 'stdio' && endedByItself) return { error }
    throw error
  }
}

function probePatience({ config }: EffectiveServer): number {
  const { ms, part } = PROBE_PATIENCE
  return Math.min(ms, (config.startupTimeoutMs ?? DEFAULT_STARTUP_TIMEOUT) * part)
}

async function listWhole(recipe: Recipe, opened: OpenedSession, signal: AbortSignal): Promise<StartedSession> {
  const { handshake, session } = opened
  const { key } = recipe.server
  const request = (method: string, params: JsonObject) => session.request(method, params, { signal, ...LISTING })
  const send = withFirstTools(request, opened.firstTools)
  const warnings: ReeveError[] = []
  const overHttp = recipe.server.config.transport.type !== 'stdio'
  const context: ListingContext = { key, handshake, send, overHttp, warn: (warning) => warnings.push(warning) }
  const aside = listAside({ key, handshake, send, overHttp })
  const tools = await listTools(context)
  const inTime = await within(recipe.timers, SIDE_LISTING_PATIENCE, aside)
  return {
    ...opened,
    inventory: withMembers(inventoryHead(handshake), tools, inTime?.resources, inTime?.prompts),
    warnings: [...warnings, ...(inTime?.warnings ?? [])],
    late: inTime === undefined ? aside : undefined,
  }
}

/** The first page that was asked for already is not asked for again. */
function withFirstTools(send: SendList, first: Promise<JsonObject> | undefined): SendList {
  let taken = first
  return (method, params) => {
    if (taken === undefined || method !== 'tools/list') return send(method, params)
    const page = taken
    taken = undefined
    return page
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
