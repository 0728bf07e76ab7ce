import { askBroker, type BrokerStatus, brokerPlace, type ControlOptions, stopBroker } from '../../gateway/index.js'
import { packageVersion } from '../../protocol/index.js'
import { runBroker } from '../broker/run-broker.js'
import { showBroker } from '../broker/show-broker.js'
import type { Cli } from '../cli.js'
import { milliseconds } from '../seconds.js'
import { UsageError } from '../usage.js'

export interface BrokerOptions {
  /** Seconds. */
  readonly idle?: string
}

/**
 * `broker status | stop | run`: looks at the broker of this home, ends it, or is it.
 *
 * @throws UsageError, BrokerError
 */
export async function run(cli: Cli, action: string, options: BrokerOptions): Promise<number> {
  const idleMs = milliseconds('--idle', options.idle)
  if (idleMs !== undefined && action !== 'run') throw new UsageError("--idle goes with 'broker run'")
  const at: ControlOptions = { home: cli.home, version: packageVersion() }
  switch (action) {
    case 'status':
      return tell(cli, await askBroker(at), 'no broker runs')
    case 'stop':
      return tell(cli, await stopBroker(at), 'no broker ran', 'stopped')
    case 'run':
      return runBroker(cli, { idleMs: idleMs ?? idleOf(cli.env.REEVE_BROKER_IDLE_MS) })
    default:
      throw new UsageError(`'broker ${action}' is not known: status, stop or run`)
  }
}

/** That no broker runs is an answer, and no failure. */
function tell(cli: Cli, status: BrokerStatus | undefined, none: string, done?: string): number {
  if (cli.json) cli.out.json({ running: status !== undefined && done === undefined, broker: status ?? null })
  else if (status === undefined) cli.err.line(none)
  else if (done === undefined) showBroker(cli, status, brokerPlace(cli.home))
  else cli.out.line(`${done} the broker (process ${status.pid})`)
  return 0
}

function idleOf(variable: string | undefined): number | undefined {
  const ms = Number(variable)
  return variable === undefined || variable === '' || !Number.isFinite(ms) || ms < 0 ? undefined : ms
}
