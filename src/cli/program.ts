import { Command, Option } from 'commander'
import { packageVersion } from '../protocol/index.js'
import { type CliWorld, createCli, type GlobalOptions } from './cli.js'
import { declareAuditing } from './declare/auditing.js'
import { declareConfiguring } from './declare/configuring.js'
import { declareLogins } from './declare/logins.js'
import { declareServing } from './declare/serving.js'
import { declareUse } from './declare/use.js'
import type { Load } from './declare/verb.js'
import { reportFailure } from './failure.js'
import { helpLine } from './help-line.js'
import { requireNamedHome } from './named-home.js'

/** Where the verb that ran leaves its exit code. */
export interface Outcome {
  code: number
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/** The whole command line. Declaring it reads nothing, starts nothing and loads no verb. */
export function declareProgram(world: CliWorld, outcome: Outcome): Command {
  const program = new Command('reeve')
    .description('One endpoint over all your MCP servers.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .option('--json', 'machine-readable output')
    .option('-q, --quiet', 'no progress and no notes')
    .option('--config <file>', 'configuration file instead of your own; repeatable', collect)
    .option('--home <dir>', "reeve's folder (default: $REEVE_HOME or ~/.reeve)")
    .option('--private', 'servers of this process alone, not those of the broker ($REEVE_NO_BROKER=1)')
    .addOption(new Option('--log-level <level>', 'what is logged on stderr').choices(LOG_LEVELS).default('warn'))
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => void world.stdout.write(text), writeErr: () => {} })
    .exitOverride()
  const verb = runner(program, world, outcome)
  declareServing(program, verb)
  declareConfiguring(program, verb)
  declareLogins(program, verb)
  declareUse(program, verb)
  declareAuditing(program, verb)
  return program
}

/** Runs a verb's module with a `Cli` made of the global options; what it throws is reported with the same `Cli`. */
function runner(program: Command, world: CliWorld, outcome: Outcome) {
  return <Args extends unknown[]>(load: Load<Args>) =>
    async (...given: [...Args, Command]): Promise<void> => {
      const cli = createCli(world, program.opts<GlobalOptions>())
      try {
        const command = given.at(-1)
        if (command instanceof Command) requireNamedHome(cli, program.opts<GlobalOptions>(), command.name())
        const { run } = await load()
        outcome.code = await run(cli, ...(given.slice(0, -1) as Args))
      } catch (error) {
        cli.err.clear()
        outcome.code = cli.signal.aborted ? 1 : reportFailure(cli, error, helpLine(program, pathOf(given.at(-1))))
      }
    }
}

/** The words that name a command, first to last. */
function pathOf(command: unknown): string[] {
  return command instanceof Command && command.parent !== null ? [...pathOf(command.parent), command.name()] : []
}

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value]
}
