import { serveExecutorStdio } from '../../executor/index.js'
import type { Cli } from '../cli.js'
import { executorAuthentication } from '../executor/authentication.js'
import { listenOn } from '../executor/listen-url.js'
import { openWebSocketExecutor } from '../executor/open-websocket.js'
import { UsageError } from '../usage.js'

export interface ExecutorVerbOptions {
  /** `ws://IP:PORT` or `stdio`. */
  readonly listen: string
  readonly wsAuth?: string
  readonly wsTokenFile?: string
  readonly wsTokenSha256?: string
  readonly wsSharedSecretFile?: string
  readonly wsIssuer?: string
  readonly wsAudience?: string
  readonly wsMaxClockSkewSeconds?: string
}

/**
 * Serves this machine to clients of the executor protocol until the client leaves (stdio) or the process is told to stop.
 * No process that it started is left behind.
 *
 * @throws UsageError, UnsupportedError
 */
export async function run(cli: Cli, options: ExecutorVerbOptions): Promise<number> {
  const place = listenOn(options.listen)
  const authentication = await executorAuthentication(cli, options)
  const world = { env: cli.env, cwd: cli.cwd }
  if (place.kind === 'stdio') {
    if (authentication.kind !== 'none') throw new UsageError('--listen stdio takes no --ws-auth: its client started it')
    await using executor = serveExecutorStdio({ ...world, input: cli.stdin, output: process.stdout })
    await Promise.race([executor.closed, aborted(cli.signal)])
    return 0
  }
  await using executor = await openWebSocketExecutor({ ...world, ...place, authentication })
  if (cli.json) cli.out.json({ url: executor.url })
  else cli.out.line(executor.url)
  if (authentication.kind === 'none')
    cli.err.line('no --ws-auth: every program of this machine may run commands as you')
  await Promise.race([executor.closed, aborted(cli.signal)])
  return 0
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
