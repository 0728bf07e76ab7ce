import { BrokerError } from '../../errors.js'
import { type JoinedBroker, joinBroker } from '../../gateway/index.js'
import { packageVersion } from '../../protocol/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'

/** What a client wants of the broker, beside what every client of this command line says. */
export interface Wanted {
  readonly mode: 'mcp' | 'thread'
  readonly environments?: readonly string[]
  readonly permissions?: string
  readonly transparent?: boolean
  readonly only?: string
  readonly resumed?: number
}

/** Whether this command line uses the broker: `--private` and `REEVE_NO_BROKER` opt out, and so does a home for one run. */
export function usesBroker({ isPrivate, entry }: Cli): boolean {
  return !isPrivate && entry !== undefined
}

/**
 * Joins the broker of this home, which is started if need be.
 *
 * @throws BrokerError when that can't be done; whatever is wrong with the session itself
 */
export function joinAs(cli: Cli, wanted: Wanted): Promise<JoinedBroker> {
  const { mode, environments = [], permissions, transparent = false, only, resumed = 0 } = wanted
  const { home, cwd, configFiles, env, entry, signal } = cli
  return joinBroker({
    home,
    version: packageVersion(),
    hello: {
      mode,
      cwd,
      configFiles,
      environments,
      transparent,
      resumed,
      ...(permissions !== undefined && { permissions }),
      ...(only !== undefined && { only }),
    },
    env,
    signal,
    ...(entry !== undefined && {
      start: { command: [process.execPath, entry, '--home', home, 'broker', 'run'], env },
    }),
  })
}

/** The same for those who can do without it: undefined, with a warning, when there is no broker to be had. */
export async function tryJoin(cli: Cli, wanted: Wanted): Promise<JoinedBroker | undefined> {
  try {
    return await joinAs(cli, wanted)
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    cli.err.warn(`${oneLine(error.message)}; running servers of this process's own`)
    return undefined
  }
}
