import { logThreadEvent } from '../gateway/index.js'
import type { ThreadEvent } from '../threads/index.js'
import type { Cli } from './cli.js'

/** JSON lines on stderr, from `--log-level` up. */
export type Log = Readonly<Record<'debug' | 'info' | 'warn' | 'error', Write>>

type Write = (facts: Readonly<Record<string, unknown>>, message: string) => void

export async function openLog(cli: Cli): Promise<Log> {
  const { pino, stdTimeFunctions } = await import('pino')
  const destination = { write: (line: string) => cli.err.error(line.trimEnd()) }
  const logger = pino({ level: cli.logLevel, base: null, timestamp: stdTimeFunctions.isoTime }, destination)
  const write =
    (level: keyof Log): Write =>
    (facts, message) =>
      logger[level](facts, message)
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** The same as a broker writes down, but for failures: verbs tell those themselves. */
export function logEvent(log: Log, event: ThreadEvent): void {
  logThreadEvent(log, event, 'info')
}
