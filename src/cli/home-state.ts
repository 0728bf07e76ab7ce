import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, type Store } from '../store/index.js'
import type { Cli } from './cli.js'
import { oneLine } from './printable.js'

/**
 * The state of the home for a verb that reads it, and no home is made for that. Undefined: there is none yet. What is
 * wrong with it is told.
 */
export function openHomeState(cli: Cli): Store | undefined {
  const file = join(cli.home, 'state.sqlite')
  if (!existsSync(file)) return undefined
  const store = openStore(file)
  for (const warning of store.warnings) cli.err.warn(oneLine(warning.message))
  return store
}
