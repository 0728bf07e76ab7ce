import { closeSync, fstatSync, writeSync } from 'node:fs'
import { Broker, brokerPlace } from '../../gateway/index.js'
import { packageVersion } from '../../protocol/index.js'
import type { Cli } from '../cli.js'
import { openLogFile } from './log-file.js'

export interface RunBrokerOptions {
  /** Milliseconds without a client after which it ends. */
  readonly idleMs: number | undefined
}

/** Is the broker of this home until it has nothing more to do; ends at once, and with 0, when there is one already. */
export async function runBroker(cli: Cli, { idleMs }: RunBrokerOptions): Promise<number> {
  // What stands on stderr is no log line, so the file tells more than a terminal would.
  const level = cli.logLevel === 'warn' ? 'info' : cli.logLevel
  const log = await openLogFile(brokerPlace(cli.home).log, level)
  const version = packageVersion()
  const broker = await Broker.open({ home: cli.home, version, log, ...(idleMs !== undefined && { idleMs }) })
  if (cli.env.REEVE_BROKER_STARTED === '1') tellStarter(broker === undefined ? 'another one runs\n' : 'ready\n')
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

/** Whoever started this process in the background waits for a word on descriptor 3, or for its end. */
const STARTER = 3

function tellStarter(word: string): void {
  try {
    if (fstatSync(STARTER).isFile()) return
    writeSync(STARTER, word)
    closeSync(STARTER)
  } catch {
    // It did not wait.
  }
}
