import { usesBroker } from './broker/broker-of.js'
import { serveFromBroker } from './broker/serve-stdio.js'
import { type CliWorld, createCli, type GlobalOptions } from './cli.js'
import { reportFailure } from './failure.js'

export { endProcess } from './end-process.js'
export { watchInterruption } from './interruption.js'

/**
 * `reeve serve --stdio` without the rest of the command line: every client of a machine starts one of these, so it loads
 * next to nothing. Bundled into one file of its own (scripts/build.mjs).
 *
 * @returns the exit code; undefined for anything else, and where there is no broker to be had. The whole command line
 * then does it from the start, with servers of its own.
 */
export async function coldServe(args: readonly string[], world: CliWorld): Promise<number | undefined> {
  const options = plainServing(args)
  if (options === undefined) return undefined
  const cli = createCli(world, options)
  if (!usesBroker(cli)) return undefined
  try {
    return await serveFromBroker(cli, {})
  } catch (error) {
    return cli.signal.aborted ? 1 : reportFailure(cli, error)
  }
}

/** `serve --stdio` with no options but these; each is read as the whole command line would. */
function plainServing(args: readonly string[]): GlobalOptions | undefined {
  const config: string[] = []
  const options: { quiet?: boolean; home?: string } = {}
  const words: string[] = []
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--quiet' || arg === '-q') options.quiet = true
    else if (arg === '--home' || arg === '--config') {
      const given = rest.shift()
      if (given === undefined || given.startsWith('-')) return undefined
      if (arg === '--home') options.home = given
      else config.push(given)
    } else words.push(arg)
  }
  const isPlain = words.length === 2 && words.includes('serve') && words.indexOf('--stdio') > words.indexOf('serve')
  return isPlain ? { ...options, config } : undefined
}
