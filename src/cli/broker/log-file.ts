import { appendFileSync } from 'node:fs'
import { type BrokerLog, type LogFacts, rotated } from '../../gateway/index.js'
import type { LogLevel } from '../cli.js'

/**
 * The broker's log: JSON lines in a file that is put aside when it has grown too long. Each line is written whole and at
 * once, so that what a broker said last is there however it ended.
 */
export async function openLogFile(file: string, level: LogLevel): Promise<BrokerLog> {
  const { pino, stdTimeFunctions } = await import('pino')
  const destination = { write: (line: string) => append(file, line) }
  const logger = pino({ level, base: { pid: process.pid }, timestamp: stdTimeFunctions.isoTime }, destination)
  return {
    debug: (facts: LogFacts, message) => logger.debug(facts, message),
    info: (facts: LogFacts, message) => logger.info(facts, message),
    warn: (facts: LogFacts, message) => logger.warn(facts, message),
  }
}

/** A log that can't be written (its home was removed, its disk is full) costs no client its session. */
function append(file: string, line: string): void {
  try {
    appendFileSync(rotated(file), line, { mode: 0o600 })
  } catch {
    // There is nowhere to tell it.
  }
}
