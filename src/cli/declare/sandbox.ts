import { type Command, Option } from 'commander'
import type { VerbRunner } from './verb.js'

export function declareSandbox(program: Command, verb: VerbRunner): void {
  program
    .command('sandbox')
    .description('run a command under the sandbox state that a client sent')
    .argument('[command...]', 'after --: the command')
    .option('--sandbox-state-json <json>', 'the state: what the command may do, and where it starts')
    .option('--sandbox-state-readable-root <dir>', 'a further folder that it may read; absolute, repeatable', collect)
    .option('--sandbox-state-disable-network', 'without network, whatever the state says')
    .addOption(new Option('-P, --permission-profile <name>').hideHelp())
    .addOption(new Option('-C, --cd <dir>').hideHelp())
    .action(verb(() => import('../verbs/sandbox.js')))
}

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value]
}
