import type { Command } from 'commander'
import type { VerbRunner } from './verb.js'

export function declareEnvironments(program: Command, verb: VerbRunner): void {
  const env = program
    .command('env')
    .description('list | add | remove | check: machines that servers run on, beside this one')
    .allowExcessArguments()
    .action((_options: object, command: Command) => {
      const [word] = command.args
      if (word !== undefined) command.error(`error: unknown command '${word}'`)
      command.outputHelp()
    })
  env
    .command('list')
    .description('list configured environments; connects to none')
    .action(verb(() => import('../verbs/env-list.js')))
  env
    .command('add')
    .description('add an environment, or change one: by --url, by --ssh, or by --command')
    .argument('<id>', 'what it is called')
    .argument('[words...]', "after --: the command; with --ssh, ssh's options and the remote program")
    .option('--url <url>', 'where its executor listens: ws:// or wss://')
    .option('--token-env <name>', 'variable here that holds the token of the executor')
    .option('--ssh <destination>', "a host that has reeve: [user@]host, or a name of ssh's own configuration")
    .option('--command', 'a command on whose pipes an executor talks: --command -- docker exec -i box reeve …')
    .option('--env <key=value>', 'variable of the command; repeatable', collect)
    .option('--cwd <dir>', 'working directory of the command, here')
    .option('--workspace <dir>', 'folder there that work starts in; absolute')
    .option('--connect-timeout <seconds>', 'time to connect to the --url')
    .option('--initialize-timeout <seconds>', 'time for the handshake')
    .option('--replace', 'replace the whole entry instead of changing what is given')
    .action(verb(() => import('../verbs/env-add.js')))
  env
    .command('remove')
    .description('remove an environment')
    .argument('<id>', 'the environment')
    .option('--ignore-missing', 'succeed when there is none')
    .action(verb(() => import('../verbs/env-remove.js')))
  env
    .command('check')
    .description('connect to environments, and show what they are and how fast')
    .argument('[id]', 'one environment only')
    .action(verb(() => import('../verbs/env-check.js')))
}

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value]
}
