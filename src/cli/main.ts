import { CommanderError } from 'commander'
import { type CliWorld, createCli } from './cli.js'
import { EXIT, reportFailure } from './failure.js'
import { helpLine } from './help-line.js'
import { declareProgram } from './program.js'
import { UsageError } from './usage.js'

/**
 * Runs one command line and gives its exit code: 0 only when everything asked for was done, 2 when the command line is
 * wrong, 1 otherwise. Never rejects.
 */
export async function main(args: readonly string[], world: CliWorld): Promise<number> {
  const outcome: { code: number } = { code: EXIT.ok }
  const program = declareProgram(world, outcome)
  try {
    if (args.length === 0) program.outputHelp()
    else await program.parseAsync([...args], { from: 'user' })
    return outcome.code
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
    const cli = createCli(world, { json: asksForJson(args) })
    return reportFailure(cli, error instanceof CommanderError ? usageFrom(error) : error, helpLine(program, args))
  }
}

/** Commander failed before the options were known. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? undefined : end).includes('--json')
}

function usageFrom(error: CommanderError): UsageError {
  const text = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')
  return new UsageError(text)
}
