import type { Readable, Writable } from 'node:stream'
import { createExecutor, type ExecutorOptions } from './executor.js'
import { StdioChannel } from './stdio-channel.js'

export interface StdioExecutorOptions extends ExecutorOptions {
  readonly input: Readable
  readonly output: Writable
}

export interface ServingExecutor extends AsyncDisposable {
  /** Resolves when it has ended, and with it every process. */
  readonly closed: Promise<void>
}

/**
 * An executor for the one client on a pair of streams; it ends with them (reference: executor-protocol, 2.3).
 *
 * @example
 * ```ts
 * await using executor = serveExecutorStdio({ input: process.stdin, output: process.stdout })
 * await executor.closed
 * ```
 */
export function serveExecutorStdio({ input, output, ...options }: StdioExecutorOptions): ServingExecutor {
  const executor = createExecutor(options)
  const channel = new StdioChannel(input, output)
  const closed = new Promise<void>((resolve, reject) => {
    const end = () => void executor.close().then(resolve, reject)
    input.once('close', end)
    input.once('end', end)
    output.once('close', end)
  })
  executor.connect(channel, false)
  return {
    closed,
    async [Symbol.asyncDispose]() {
      channel.drop()
      await executor.close()
    },
  }
}
