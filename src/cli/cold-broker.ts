import { usesBroker } from './broker/broker-of.js'
import { type Cli, type CliWorld, createCli, type GlobalOptions } from './cli.js'
import { plainCall } from './cold-call.js'
import { plainServing } from './cold-serve.js'
import { reportFailure } from './failure.js'

export { endProcess } from './end-process.js'
export { watchInterruption } from './interruption.js'

/** A verb that is done in the broker, as its command line says. */
export interface PlainVerb {
  readonly options: GlobalOptions
  /** Gives the exit code; undefined when there is no broker to be had, and nothing was done yet. */
  run(cli: Cli): Promise<number | undefined>
}

/**
 * The verbs that run most, without the rest of the command line: scripts call tools, and every client of a machine
 * starts `reeve serve --stdio`. The work is done in the broker, so they load next to nothing. Bundled into one file of
 * its own (scripts/build.mjs).
 *
 * @returns the exit code. `other`: it is none of these, or not said plainly; `no_broker`: there is none, as was told. The
 * whole command line then does it from the start.
 */
export async function doInBroker(args: readonly string[], world: CliWorld): Promise<number | 'other' | 'no_broker'> {
  const verb = plainCall(args) ?? plainServing(args)
  if (verb === undefined) return 'other'
  const cli = createCli(world, verb.options)
  if (!usesBroker(cli)) return 'other'
  try {
    return (await verb.run(cli)) ?? 'no_broker'
  } catch (error) {
    cli.err.clear()
    return cli.signal.aborted ? 1 : reportFailure(cli, error)
  }
}
