import type { ServerSelector } from '../threads/index.js'
import { cachedTools, showCached } from './cached-tools.js'
import { type CliWorld, createCli, type GlobalOptions } from './cli.js'
import { requireNamedHome } from './named-home.js'
import { plainArguments } from './plain-arguments.js'
import { selectorOf } from './selection.js'

export { reeveHome } from '../config/index.js'
export { plainStream } from './plain-stream.js'

/**
 * `reeve tools` without the rest of the command line: what the cache can answer alone is answered before a parser, a
 * runtime or a logger is loaded. Bundled into one file of its own (scripts/build.mjs).
 *
 * @returns the exit code; undefined for anything that is not a plain listing, not in the cache, or wrong in any way. The
 * whole command line then does it again from the start, and tells what is wrong.
 */
export async function coldList(args: readonly string[], world: CliWorld): Promise<number | undefined> {
  const wanted = plainListing(args)
  if (wanted === undefined) return undefined
  try {
    const cli = createCli(world, wanted.options)
    requireNamedHome(cli, wanted.options, 'tools')
    const cached = await cachedTools(cli, wanted.selector)
    return cached.missing.length === 0 && !cached.mayBeMore ? showCached(cli, cached) : undefined
  } catch {
    return undefined
  }
}

interface PlainListing {
  readonly selector: ServerSelector | undefined
  readonly options: GlobalOptions
}

/** `tools [NAME [--env ID]]`. */
function plainListing(args: readonly string[]): PlainListing | undefined {
  const plain = plainArguments(args, ['--env'])
  const [verb, name, ...more] = plain?.words ?? []
  if (plain === undefined || verb !== 'tools' || more.length > 0) return undefined
  const { options, values } = plain
  const env = values.get('--env')
  if (name === undefined) return env === undefined ? { selector: undefined, options } : undefined
  return { selector: selectorOf(name, env === undefined ? {} : { env }), options }
}
