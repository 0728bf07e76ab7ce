import { packageVersion } from '../../protocol/index.js'
import { usesBroker } from '../broker/broker-of.js'
import type { Cli } from '../cli.js'
import type { Log } from '../log.js'
import { oneLine } from '../printable.js'
import type { OpenedRuntime } from '../session.js'
import { isIncomplete } from '../session-options.js'
import { tellProblems } from '../showing/problems.js'

export interface HostedRuntime extends OpenedRuntime {
  /** Fires when somebody stops the broker: what is served here ends with it. */
  readonly stopped: AbortSignal
}

/**
 * Makes this process the broker of its home, so that its own clients and those that come over stdio or by the command
 * line share one set of servers. Undefined where another process is the broker already, or none is wanted.
 */
export async function openHostedRuntime(cli: Cli, log: Log): Promise<HostedRuntime | undefined> {
  if (!usesBroker(cli)) return undefined
  const { Broker } = await import('./endpoints.js')
  const { home, cwd, configFiles, env, entry } = cli
  const broker = await Broker.open({
    home,
    version: packageVersion(),
    log,
    hosted: true,
    ...(entry !== undefined && { commandLine: entry }),
  })
  if (broker === undefined) return undefined
  const stopping = new AbortController()
  try {
    const { reeve, leave } = await broker.lodge({ cwd, configFiles, env, onStop: () => stopping.abort() })
    tellProblems(cli, reeve.problems)
    for (const warning of reeve.warnings) cli.err.warn(oneLine(warning.message))
    return {
      reeve,
      incomplete: isIncomplete(reeve.problems),
      stopped: stopping.signal,
      [Symbol.asyncDispose]: async () => {
        leave()
        await broker.close()
      },
    }
  } catch (error) {
    await broker.close()
    throw error
  }
}
