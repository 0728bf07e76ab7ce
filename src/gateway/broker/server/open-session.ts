import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Reeve, Thread, ThreadOptions } from '../../../reeve.js'
import { ownersAuth } from '../../owners-auth.js'
import { GatewaySession } from '../../session.js'
import { showRuntime } from '../../show-runtime.js'
import type { SessionHello } from '../wire/hello.js'
import type { GoodbyeReason } from '../wire/session-frames.js'
import type { BrokerLog } from './broker-log.js'
import { logThreadEvent } from './event-log.js'
import { hookLog } from './hook-log.js'
import { McpTransport } from './mcp-transport.js'
import { ThreadSession } from './thread-session.js'

/** A client's session, of either kind. */
export interface BrokerSession {
  /** Resolves when its thread is gone. Never rejects. */
  readonly closed: Promise<void>
  /** What an MCP client said of itself, once it did. */
  client(): unknown
  start(): Promise<void>
  /** Asks the client to go elsewhere once its requests are answered. One that uses a thread ends by itself. */
  goodbye(reason: GoodbyeReason): void
  close(): Promise<void>
}

export interface OpenSessionOptions {
  readonly reeve: Reeve
  /** Of Reeve. */
  readonly version: string
  readonly log: BrokerLog
}

/** Makes the session that a client asked for, not started yet. Takes nothing from the socket before it is started. */
export function openSession(hello: SessionHello, options: OpenSessionOptions): (socket: Socket) => BrokerSession {
  const { reeve, log, version } = options
  const onWarning = (warning: Error) => log.warn({ pid: hello.pid }, warning.message)
  const startThread = (given: ThreadOptions, signal?: AbortSignal): Promise<Thread> =>
    reeve.startThread(
      {
        sharing: 'shared',
        ...given,
        ...ownersAuth(reeve.auth, given.principal),
        onHook: hookLog(log),
        onEvent: (event) => {
          logThreadEvent(log, event)
          given.onEvent?.(event)
        },
      },
      signal,
    )
  if (hello.mode === 'thread') {
    return (socket) => {
      const session = new ThreadSession(socket, { startThread, onWarning })
      return { ...methodsOf(session), client: () => undefined, goodbye: () => undefined }
    }
  }
  const shown = showRuntime(reeve, hello)
  return (socket) => {
    const transport = new McpTransport(socket, hello.resumed)
    const session = new GatewaySession(transport, {
      ...shown.front,
      startThread: (given) => startThread({ ...given, ...shown.thread }),
      version,
      stateFolder: join(reeve.home, 'run'),
      onWarning,
    })
    return { ...methodsOf(session), client: () => session.client, goodbye: (reason) => transport.goodbye(reason) }
  }
}

function methodsOf(session: GatewaySession | ThreadSession): Pick<BrokerSession, 'closed' | 'start' | 'close'> {
  return { closed: session.closed, start: () => session.start(), close: () => session.close() }
}
