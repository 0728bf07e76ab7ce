import { displayKey } from '../identity/index.js'
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

/** Writes down what happens to the servers of a thread, without what they send. */
export function logEvent(log: Log, event: ThreadEvent): void {
  if (event.type === 'startup_summary') return
  if (event.type === 'problem') {
    const { code, message } = event.problem
    log.warn({ code }, message)
    return
  }
  if (event.type === 'environment') {
    const { environment, status, error } = event
    log.info({ environment, ...(error !== undefined && { error }) }, `environment ${status}`)
    return
  }
  const server = displayKey(event.type === 'notification' ? event.notification.key : event.key)
  if (event.type === 'notification')
    log.debug({ server, method: event.notification.method }, 'notification of a server')
  else if (event.type === 'inventory_changed') log.debug({ server, what: event.what }, 'what a server offers changed')
  else if (event.type === 'warning') log.warn({ server, code: event.code }, event.message)
  else log.info({ server, ...(event.error !== undefined && { error: event.error }) }, `server ${event.status}`)
}
