import type { ClientProfile, ReadyClient, ServerRequestHandler } from '../connections/index.js'
import { type ServerKey, sameKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { Thread, ThreadEvent } from '../threads/index.js'
import { LEGACY_FORM, MODERN_FORM } from './bridge/index.js'
import type { ClientSide } from './relay/client-side.js'
import { Questions } from './relay/environment-questions.js'
import {
  capabilitiesOf,
  type Introduction,
  mergedIntroduction,
  ownCapabilities,
  ownIntroduction,
  reeveInfo,
  showsApps,
} from './relay/handshake.js'
import { MergedRelay } from './relay/merged-relay.js'
import type { Relay } from './relay/relay.js'
import { TransparentRelay } from './relay/transparent-relay.js'
import {
  type CallTracker,
  LegacyClientTasks,
  LocalTask,
  ModernClientTasks,
  mapRelatedTask,
  rawTaskId,
  type TaskHost,
  type TaskOwners,
  withTasksExtension,
} from './tasks/index.js'
import type { ThreadStarter } from './thread-starter.js'

/** What stands behind the endpoint, and how it shows itself. */
export interface FrontOptions {
  readonly startThread: ThreadStarter
  /** Of Reeve, for `serverInfo`. */
  readonly version: string
  /**
   * The one server that clients see as if they had reached it directly: its names, URIs, capabilities and instructions
   * are its own. Absent: all servers as one, whose names tell whose they are.
   */
  readonly transparent?: ServerKey
  /**
   * The folder of an environment beside the host, in the environment's own form, that servers there are told as their
   * root; undefined where none is known. Default: what the thread has selected there.
   */
  readonly workspaceOf?: (environment: string) => string | undefined
  /**
   * Where what makes a `requestState` good beyond this process is kept, usually `$REEVE_HOME/run`. Absent: it is good as
   * long as the process lives.
   */
  readonly stateFolder?: string
  /** Every client gets servers of its own. Default false: equal clients of one principal share them. */
  readonly isolate?: boolean
  /** Of a gateway with several principals: none is told of another's tasks. */
  readonly taskOwners?: TaskOwners
  /** For whom the client speaks. Default: the local user. */
  readonly principal?: string
  /** Milliseconds that an introduction waits for servers, whose instructions it carries. Default 1500. */
  readonly settleMs?: number
  /** Faults of clients and transports. What happens to servers is told by the events of the thread that is started. */
  readonly onWarning: (warning: Error) => void
}

export interface ThreadEars {
  readonly onRequest: ServerRequestHandler
  readonly onEvent: (event: ThreadEvent) => void
}

/** Opens relays for clients of one era. */
export type RelayOpener<Ears extends ThreadEars> = (
  options: FrontOptions,
  profile: ClientProfile,
  ears: Ears,
) => Promise<Relay>

/** For a legacy client. A server may be told of tasks in both eras' ways: this side makes one of the other. */
export const openLegacyRelay: RelayOpener<ThreadEars> = (options, profile, ears) => {
  let relay: Relay | undefined
  const questions = questionsFor(options)
  const ask = questions.through(ears.onRequest)
  const asked: ServerRequestHandler = async (request, signal) => {
    const { key, method, origin, params } = request
    // Before a task of this side, which has nobody to ask until its client waits for it.
    const answered = await questions.answered(key, method)
    if (answered !== undefined) return answered
    const tasks = relay?.tasks
    const told = tasks && params ? { ...request, params: tasks.told(request, params) } : request
    const answer = await (origin instanceof LocalTask ? origin.ask(told, signal) : ask(told, signal))
    return tasks ? mapRelatedTask(answer, (name) => rawTaskId(tasks.names, key, name)) : answer
  }
  const side: ClientSide = {
    era: 'legacy',
    form: LEGACY_FORM,
    tasks: (host) => new LegacyClientTasks(host, ask),
  }
  const capabilities = withTasksExtension(profile.capabilities)
  const opening = openRelay(options, { ...profile, capabilities }, side, questions, { ...ears, onRequest: asked })
  return opening.then((opened) => {
    relay = opened
    return opened
  })
}

/** For a modern client, whose requests find by `ears` what servers ask them. */
export const openModernRelay: RelayOpener<ThreadEars & { readonly track: CallTracker }> = (options, profile, ears) => {
  const { track, onEvent } = ears
  const questions = questionsFor(options)
  const tasks = (host: TaskHost) => new ModernClientTasks(host, profile.capabilities, track, questions)
  const side: ClientSide = { era: 'modern', form: MODERN_FORM, tasks }
  return openRelay(options, profile, side, questions, { onRequest: questions.through(ears.onRequest), onEvent })
}

/** One server in the gateway's place asks in its own words; of several, a client hears where the one that asks stands. */
function questionsFor({ transparent, workspaceOf }: FrontOptions): Questions {
  return new Questions({ named: transparent === undefined, workspaceOf })
}

/** Starts the thread of one client and gives what answers for it. */
async function openRelay(
  options: FrontOptions,
  profile: ClientProfile,
  anybody: ClientSide,
  questions: Questions,
  ears: ThreadEars,
): Promise<Relay> {
  const { startThread, transparent, isolate, principal, onWarning } = options
  const side = withOwnTasks(anybody, options)
  const starting = startThread({
    client: profile,
    naming: 'readable',
    appTools: transparent !== undefined || showsApps(profile),
    sharing: isolate === true ? 'isolated' : 'shared',
    ...(principal !== undefined && { principal }),
    ...ears,
  })
  questions.of(starting)
  const thread = await starting
  if (transparent === undefined) return new MergedRelay(thread, side)
  return new TransparentRelay(thread, transparent, side, (error) => onWarning(asError(error)))
}

/** The same for one principal, who knows no other one's tasks. */
function withOwnTasks(side: ClientSide, { taskOwners, principal }: FrontOptions): ClientSide {
  if (taskOwners === undefined || principal === undefined) return side
  const tasks = (host: TaskHost) => side.tasks({ ...host, names: taskOwners.names(host.names, principal) })
  return { ...side, tasks }
}

/**
 * Gives servers a moment to come up, and tells what there is then. Why one did not come up is told to the request that
 * needs it, not here; only the one server of a transparent gateway is waited for.
 */
export async function introduce({ thread, era }: Relay, options: FrontOptions): Promise<Introduction> {
  if (options.transparent !== undefined) return ownIntroduction(await onlyClient(thread, options.transparent), era)
  await settle(thread, options.settleMs ?? 1500)
  return mergedIntroduction(thread.servers(), options.version, era)
}

/** Who answers: Reeve, or the one server of a transparent gateway as far as it is known. */
export function serverInfoOf({ thread }: Relay, { transparent, version }: FrontOptions): JsonObject {
  const row = transparent && thread.servers().find(({ key }) => sameKey(key, transparent))
  return row?.serverInfo ?? reeveInfo(version)
}

/** The capabilities that hold now. */
export async function offered({ thread, era }: Relay, { transparent }: FrontOptions): Promise<JsonObject> {
  if (transparent === undefined) return capabilitiesOf(thread.servers(), era)
  return ownCapabilities(await onlyClient(thread, transparent), era)
}

async function onlyClient(thread: Thread, { name, environment }: ServerKey): Promise<ReadyClient> {
  const { client } = await thread.client({ server: name, environment })
  return client
}

async function settle(thread: Thread, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  const come = thread.step().then(nothing, nothing)
  await Promise.race([come, passed])
  clearTimeout(timer)
}

function nothing(): undefined {
  return undefined
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
