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
    .option('--since <time>', 'a time like 15m, 2h, 7d or 2026-05-01T12:00')
    .option('--outcome <outcome>', 'ok, tool_error, rpc_error, transport_error or refused')
    .option('--limit <n>', 'the newest so many (default: 100)')
    .option('-f, --follow', 'go on with what comes')
    .action(verb(() => import('../verbs/audit.js')))
}
