import type { ProcessExit } from '../../environments/index.js'
import { ProcessFailedError } from '../../errors.js'

/** The error of a server that ended by itself. `data`: `exitCode`, `signal`, `stderr` (the last lines, oldest first). */
export function serverExitError(who: string, exit: ProcessExit, stderr: readonly string[]): ProcessFailedError {
  const how = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`
  return new ProcessFailedError(`${who} ${how}${lastWords(stderr)}`, {
    data: { exitCode: exit.code, signal: exit.signal, stderr },
  })
}

/** The last stderr lines as the end of a message. */
export function lastWords(stderr: readonly string[]): string {
  const lines = stderr.slice(-LINES_IN_MESSAGE)
  if (lines.length === 0) return '; it wrote nothing on stderr'
  return `; last on stderr:${lines.map((line) => `\n  ${line.slice(0, LINE_IN_MESSAGE)}`).join('')}`
}

const LINES_IN_MESSAGE = 5
const LINE_IN_MESSAGE = 500
