import type { ServerStatus } from '../../connections/index.js'
import { displayKey, keyText, type ServerKey } from '../../identity/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import { keyMembers } from './server-names.js'

export interface ServerFailure {
  readonly key: ServerKey
  readonly error: string
}

/** Servers that should have come up and did not, and those that failed to answer; each once. */
export function failuresOf(statuses: readonly ServerStatus[], answering: readonly ServerFailure[]): ServerFailure[] {
  const found = new Map<string, ServerFailure>()
  for (const { key, status, error } of statuses) {
    if (status !== 'failed' && status !== 'authentication_required') continue
    found.set(keyText(key), { key, error: error?.message ?? status })
  }
  for (const failure of answering) if (!found.has(keyText(failure.key))) found.set(keyText(failure.key), failure)
  return [...found.values()]
}

/** One warning each on stderr. Gives the exit code. */
export function reportFailures(cli: Cli, failures: readonly ServerFailure[]): number {
  if (!cli.json) for (const { key, error } of failures) cli.err.warn(oneLine(`${displayKey(key)}: ${error}`))
  return failures.length === 0 ? 0 : 1
}

export function failuresJson(failures: readonly ServerFailure[]): Record<string, unknown>[] {
  return failures.map(({ key, error }) => ({ ...keyMembers(key), error }))
}
