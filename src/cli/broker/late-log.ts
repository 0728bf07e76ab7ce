import type { Cli, LogLevel } from '../cli.js'
import { type Log, openLog } from '../log.js'

const ORDER: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/** A log that is opened by the first line it has to write: the logger takes longer to load than most calls take. */
export function lateLog(cli: Cli): Log & { readonly written: () => Promise<void> } {
  let lines: Promise<void> = Promise.resolve()
  let log: Promise<Log> | undefined
  const write =
    (level: keyof Log): Log[keyof Log] =>
    (facts, message) => {
      if (ORDER.indexOf(level) < ORDER.indexOf(cli.logLevel)) return
      log ??= openLog(cli)
      const opened = log
      lines = lines.then(async () => (await opened)[level](facts, message))
    }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    written: () => lines,
  }
}
