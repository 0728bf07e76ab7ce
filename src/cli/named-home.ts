import { existsSync } from 'node:fs'
import type { Cli, GlobalOptions } from './cli.js'
import { UsageError } from './usage.js'

/** Verbs that show what a home has. */
const READING: ReadonlySet<string> = new Set([
  'approvals',
  'audit',
  'auth',
  'doctor',
  'get',
  'hooks',
  'list',
  'prompt',
  'prompts',
  'read',
  'resources',
  'status',
  'tools',
])

/**
 * A home that is named and isn't there is a slip: there is nothing to show, and it is not made for that. With a
 * configuration of its own it may be meant.
 *
 * @throws UsageError
 */
export function requireNamedHome({ home, configFiles }: Cli, { home: named }: GlobalOptions, verb: string): void {
  if (named === undefined || configFiles.length > 0 || !READING.has(verb) || existsSync(home)) return
  throw new UsageError(`there is no folder '${home}'`, { place: '--home' })
}
