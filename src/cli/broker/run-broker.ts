import { loadConfig } from '../../config/index.js'
import { Broker, brokerPlace, tellStarter } from '../../gateway/index.js'
import { packageVersion } from '../../protocol/index.js'
import type { Cli } from '../cli.js'
import { openLogFile } from './log-file.js'

export interface RunBrokerOptions {
  /** Milliseconds without a client after which it ends; absent: as the configuration of the home says. */
  readonly idleMs: number | undefined
}

/** Is the broker of this home until it has nothing more to do; ends at once, and with 0, when there is one already. */
export async function runBroker(cli: Cli, options: RunBrokerOptions): Promise<number> {
  const broker = await openBroker(cli, options)
  tellStarter(cli.env, broker === undefined ? 'another one runs' : 'ready')
  if (broker === undefined) {
    cli.err.line('another broker of this home runs')
    return 0
  }
  const stop = () => void broker.close()
  cli.signal.addEventListener('abort', stop, { once: true })
  if (cli.signal.aborted) stop()
  await broker.closed
  return 0
}

async function openBroker(cli: Cli, options: RunBrokerOptions): Promise<Broker | undefined> {
  const { home, logLevel, env, entry } = cli
  try {
    const idleMs = options.idleMs ?? (await loadConfig({ home, cwd: home, env })).broker.idleMs
    // The file is where a broker is looked for that nobody watches, so it tells more than a terminal would be told.
    const log = await openLogFile(brokerPlace(home).log, logLevel === 'warn' ? 'info' : logLevel)
    return await Broker.open({
      home,
      version: packageVersion(),
      log,
      ...(idleMs !== undefined && { idleMs }),
      ...(entry !== undefined && { commandLine: entry }),
    })
  } catch (error) {
    tellStarter(env, { fault: error instanceof Error ? error.message : String(error) })
    throw error
  }
}
