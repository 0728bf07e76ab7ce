import type { AuthContext } from '../auth/index.js'
import type { DurableApprovals } from '../authority/index.js'
import type {
  ClientProfile,
  ConnectionEvent,
  ConnectionPool,
  HostVariables,
  ManagerOptions,
  ServerRequestHandler,
} from '../connections/index.js'
import type { CapabilitySource, EnvironmentRegistry } from '../environments/index.js'
import { codexNaming, LOCAL_ENVIRONMENT, type NamingStrategy, pinnedNaming, readableNaming } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { AppsCache } from './apps/cache.js'
import { type AnalyticsSource, type AnalyticsThread, CallAnalytics } from './call-analytics.js'
import type { AuditSource } from './call-audit.js'
import { CallHooks, type CallHooksHost } from './call-hooks.js'
import type { LauncherSource } from './call-sandbox.js'
import type { ThreadConfiguration } from './composition.js'
import { LeftOut } from './functions/left-out.js'
import type { FunctionHost } from './functions/resource-functions.js'
import type { FirstPartyParts } from './owning-auth.js'
import type { ThreadMemory, ThreadRecord } from './record.js'
import { type SelectedPlace, selectPlaces } from './selection.js'
import type { StepHost } from './step.js'
import { ThreadServers, type ThreadServersOptions } from './thread-servers.js'
import type { SelectedEnvironment, ThreadEvent, ThreadOptions } from './types.js'

/** What the runtime lends to a thread. */
export interface ThreadHost {
  readonly pool: ConnectionPool
  readonly env: HostVariables
  readonly clientInfo: JsonObject
  /** Working directory where the options name none. */
  readonly cwd: string
  readonly environments: EnvironmentRegistry
  /** Finds what environments offer; one for each thread. */
  readonly capabilities: () => CapabilitySource
  readonly memory: ThreadMemory
  readonly approvals: DurableApprovals
  readonly audit: AuditSource
  readonly launchers: LauncherSource
  readonly firstParty: FirstPartyParts
  readonly analytics: AnalyticsSource
  readonly apps: AppsCache
  onClosed(id: string): void
}

/** What a thread takes up: its own id, or the record of another one. */
export interface ThreadOrigin {
  readonly id?: string
  readonly record?: ThreadRecord
}

/**
 * The environments of a thread, as it asks for them, else as they are kept of it.
 *
 * @throws SelectionError
 */
export function placesOf(
  { environments, cwd }: ThreadHost,
  asked: readonly SelectedEnvironment[] | undefined,
  record: ThreadRecord | undefined,
): readonly SelectedPlace[] {
  const { defaultSelection, ids } = environments
  const context = { defaultSelection, cwdOf: (id: string) => environments.cwdOf(id), cwd }
  // What was selected once may be gone: a problem of the thread, not its end.
  return asked === undefined && record !== undefined
    ? selectPlaces(record.environments, context)
    : selectPlaces(asked, { ...context, known: ids })
}

/** What the connections of a thread are made with. */
export function managerOptionsOf(
  host: ThreadHost,
  { sharing, principal, graceMs, client }: ThreadOptions,
  own: {
    readonly owner: string
    readonly places: readonly SelectedPlace[]
    readonly onEvent: (event: ConnectionEvent) => void
    readonly onRequest?: ServerRequestHandler
    readonly auth?: AuthContext
    readonly slotOf: NonNullable<ManagerOptions['slotOf']>
  },
): ManagerOptions {
  const { pool, env, cwd, clientInfo, environments } = host
  const { places, ...rest } = own
  const profile: ClientProfile = {
    clientInfo: client?.clientInfo ?? clientInfo,
    capabilities: client?.capabilities ?? {},
    ...(client?.further && { further: client.further }),
  }
  return {
    pool,
    profile,
    env,
    fallbackCwd: places.find(({ id }) => id === LOCAL_ENVIRONMENT)?.cwd ?? cwd,
    environments,
    ...rest,
    ...(sharing === 'shared' && { sharing: { owner: sharedOwner(principal), clientInfo } }),
    ...(principal !== undefined && principal !== LOCAL_USER && { principal }),
    ...(graceMs !== undefined && { graceMs }),
  }
}

/** Which servers a thread has, as it asks for them. */
export function threadServersOf(
  { environments, capabilities, cwd }: ThreadHost,
  { only, warm = true, compatibility = false, permissions }: ThreadOptions,
  own: Pick<ThreadServersOptions, 'manager' | 'configuration' | 'places' | 'roots' | 'apps' | 'onEvent'>,
): ThreadServers {
  const asked = { only, warm, compatibility, permissions, threadCwd: cwd }
  return new ThreadServers({ ...own, ...asked, environments, source: capabilities() })
}

/** Where calls of a thread are told, as the program that it works for. */
export function callAnalyticsOf(
  { analytics, clientInfo }: ThreadHost,
  { client }: ThreadOptions,
  own: Pick<AnalyticsThread, 'id' | 'auth'>,
): CallAnalytics {
  return new CallAnalytics(own.id, analytics({ ...own, client: client?.clientInfo ?? clientInfo }))
}

/** Hooks around the calls of a thread: those of its program, and those that are configured. */
export function callHooksOf(
  { environments, env, cwd }: ThreadHost,
  { hooks, onHook }: ThreadOptions,
  { loaded }: ThreadConfiguration,
  own: Pick<CallHooksHost, 'threadId' | 'multiEnvironment' | 'callTool'> & {
    readonly places: () => readonly SelectedPlace[]
  },
): CallHooks {
  const { places, ...rest } = own
  const cwdOf = (id?: string) => (id === undefined ? places()[0] : places().find((place) => place.id === id))?.cwd
  const local = environments.get(LOCAL_ENVIRONMENT)?.environment
  return new CallHooks({ ...rest, functions: hooks ?? [], onReport: onHook, local, env, cwd, cwdOf }, loaded.hooks)
}

/** What the steps of a thread are taken with. */
export function stepHostOf(
  { naming, appTools = false, soleOwners = false }: ThreadOptions,
  own: Omit<StepHost, 'naming' | 'appTools' | 'functions'> & {
    readonly prefixedNames: boolean
    readonly ready: FunctionHost['ready']
    readonly tell: (event: ThreadEvent) => void
  },
): StepHost {
  const { prefixedNames, ready, tell, ...rest } = own
  const { multiEnvironment } = rest
  return {
    ...rest,
    naming: naming === 'readable' ? readableNaming : namesOfCodex(multiEnvironment, prefixedNames),
    appTools,
    functions: { multiEnvironment, soleOwners, ready, leftOut: new LeftOut(tell) },
  }
}

/** Kept for as long as the thread is; the readable ones never move by themselves. */
function namesOfCodex(multiEnvironment: boolean, prefixed: boolean): NamingStrategy {
  return pinnedNaming(codexNaming({ multiEnvironment, prefixed }), { multiEnvironment })
}

/** Whoever runs this process. */
export const LOCAL_USER = 'owner'

/** No thread has such an id. */
function sharedOwner(principal = LOCAL_USER): string {
  return JSON.stringify({ principal })
}
