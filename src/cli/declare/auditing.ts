import type { Command } from 'commander'
import type { VerbRunner } from './verb.js'

export function declareAuditing(program: Command, verb: VerbRunner): void {
  program
    .command('audit')
    .description('show which calls were made, where, and who allowed them')
    .option('--server <name>', 'of one server')
    .option('--env <id>', 'of servers of this environment')
    .option('--no-env', 'of servers of no environment')
    .option('--tool <name>', 'of one tool, as the server calls it')
    .option('--principal <id>', "of calls for one principal; 'owner' is the local user")
    .option('--since <time>', 'a time like 15m, 2h, 7d or 2026-05-01T12:00')
    .option('--outcome <outcome>', 'ok, tool_error, rpc_error, transport_error or refused')
    .option('--decision <decision>', 'run, rejected or cancelled')
    .option('--decided-by <who>', 'mode, user, reviewer, policy, hook, session_memory, durable_memory, operator …')
    .option('--thread <id>', 'of one thread')
    .option('--limit <n>', 'the newest so many (default: 100)')
    .option('-f, --follow', 'go on with what comes')
    .action(verb(() => import('../verbs/audit.js')))
  program
    .command('hooks')
    .description('list | trust NO | untrust NO: what runs around calls, and what keeps it from running')
    .argument('[action]', 'list (default), trust or untrust')
    .argument('[hook]', 'the hook, by its number in the list or by its key')
    .action(verb(() => import('../verbs/hooks.js')))
}
