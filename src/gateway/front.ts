import type { ClientProfile, ServerRequestHandler } from '../connections/index.js'
import type { ServerKey } from '../identity/index.js'
import type { Thread, ThreadEvent } from '../threads/index.js'
import { type Introduction, mergedIntroduction, ownIntroduction, showsApps } from './relay/handshake.js'
import { MergedRelay } from './relay/merged-relay.js'
import type { Relay } from './relay/relay.js'
import { TransparentRelay } from './relay/transparent-relay.js'
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
  /** Milliseconds that an introduction waits for servers, whose instructions it carries. Default 1500. */
  readonly settleMs?: number
  /** Faults of clients and transports. What happens to servers is told by the events of the thread that is started. */
  readonly onWarning: (warning: Error) => void
}

export interface ThreadEars {
  readonly onRequest: ServerRequestHandler
  readonly onEvent: (event: ThreadEvent) => void
}

/** Starts the thread of one client and gives what answers for it. */
export async function openRelay(options: FrontOptions, profile: ClientProfile, ears: ThreadEars): Promise<Relay> {
  const { startThread, transparent, onWarning } = options
  const thread = await startThread({
    client: profile,
    naming: 'readable',
    appTools: transparent !== undefined || showsApps(profile),
    ...ears,
  })
  if (transparent === undefined) return new MergedRelay(thread)
  return new TransparentRelay(thread, transparent, (error) => onWarning(asError(error)))
}

/**
 * Gives servers a moment to come up, and tells what there is then. Why one did not come up is told to the request that
 * needs it, not here; only the one server of a transparent gateway is waited for.
 */
export async function introduce({ thread }: Relay, options: FrontOptions): Promise<Introduction> {
  const { transparent } = options
  if (transparent !== undefined) {
    const { client } = await thread.client({ server: transparent.name, environment: transparent.environment })
    return ownIntroduction(client)
  }
  await settle(thread, options.settleMs ?? 1500)
  return mergedIntroduction(thread.servers(), options.version)
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
