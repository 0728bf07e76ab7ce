import type { Readable, Writable } from 'node:stream'
import { closeOnSignals, ENDING_SIGNALS, OpenSessions, type Serving } from './serving.js'
import { GatewaySession, type GatewaySessionOptions } from './session.js'
import { claimStdout } from './stdio/claim-stdout.js'
import { StdioTransport } from './stdio/stdio-transport.js'

export interface ServeStdioOptions extends GatewaySessionOptions {
  /** Default: this process's stdin and stdout, which then belong to the protocol alone. */
  readonly streams?: { readonly input: Readable; readonly output: Writable }
  /** End the session as if the client had left. Default SIGINT and SIGTERM. */
  readonly signals?: readonly NodeJS.Signals[]
  /** Milliseconds that requests may still take once the client has closed its end. Default 5000. */
  readonly drainMs?: number
}

/**
 * Serves one client over stdio: the one that started this process. Ends when the client closes stdin, or on a signal.
 *
 * @example
 * ```ts
 * const serving = await serveStdio({ startThread: (o) => reeve.startThread(o), version, onWarning: console.error })
 * await serving.closed
 * ```
 */
export async function serveStdio(options: ServeStdioOptions): Promise<Serving> {
  const claimed = options.streams === undefined ? claimStdout() : undefined
  const streams = options.streams ?? { input: process.stdin, output: claimed?.output ?? process.stdout }
  const transport = new StdioTransport({
    ...streams,
    ...(options.drainMs !== undefined && { drainMs: options.drainMs }),
  })
  const session = new GatewaySession(transport, options)
  const sessions = new OpenSessions()
  sessions.add(session, 'owner')
  const close = () => session.close()
  const deafen = closeOnSignals(options.signals ?? ENDING_SIGNALS, close)
  const closed = session.closed.then(() => {
    deafen()
    claimed?.release()
  })
  await session.start()
  return { closed, close, sessions: () => sessions.rows(), [Symbol.asyncDispose]: close }
}
