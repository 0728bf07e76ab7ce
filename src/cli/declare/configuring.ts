import type { Command } from 'commander'
import { declareEnvironments } from './environments.js'
import type { VerbRunner } from './verb.js'

const SECRETS = ['--show-secrets', 'do not mask values that may be secrets'] as const
const SCOPE = ['--scope <scope>', "whose file: 'user' (default) or 'project'"] as const

export function declareConfiguring(program: Command, verb: VerbRunner): void {
  program.commandsGroup('Configure:')
  program
    .command('list')
    .description('list configured servers; starts none')
    .option(...SECRETS)
    .action(verb(() => import('../verbs/list.js')))
  program
    .command('get')
    .description('show one configured server')
    .argument('<name>', 'the server')
    .option(...SECRETS)
    .action(verb(() => import('../verbs/get.js')))
  program
    .command('add')
    .description('add a server, or change one: reeve add NAME -- COMMAND…, or reeve add NAME --url URL')
    .argument('<name>', 'the server')
    .argument('[command...]', 'program and arguments, after --')
    .option('--url <url>', 'endpoint of an HTTP server')
    .option('--transport <transport>', "'stdio', 'http' or 'sse', where it does not show itself")
    .option('--env <key=value>', 'variable of the program; repeatable', collect)
    .option('--env-var <name>', 'variable taken over from your environment; repeatable', collect)
    .option('--cwd <dir>', 'working directory of the program')
    .option('--sandbox <mode>', 'sandbox of the program: read-only or workspace-write')
    .option('--header <name: value>', 'header of every request; repeatable', collect)
    .option('--env-header <name: variable>', 'header whose value a variable holds; repeatable', collect)
    .option('--bearer-token-env-var <name>', 'variable that holds the bearer token')
    .option('--oauth-client-id <id>', 'client registered beforehand')
    .option('--oauth-resource <uri>', 'resource to ask tokens for')
    .option('--environment <id>', 'where the server runs (default: local)')
    .option('--startup-timeout <seconds>', 'time to start')
    .option('--tool-timeout <seconds>', 'time for one call')
    .option('--required', 'no session without it')
    .option('--disabled', 'add it switched off')
    .option('--replace', 'replace the whole entry instead of changing what is given')
    .option(...SCOPE)
    .action(verb(() => import('../verbs/add.js')))
  program
    .command('remove')
    .description('remove a server')
    .argument('<name>', 'the server')
    .option('--ignore-missing', 'succeed when there is none')
    .option(...SCOPE)
    .action(verb(() => import('../verbs/remove.js')))
  program
    .command('enable')
    .description('switch a server on')
    .argument('<name>', 'the server')
    .option(...SCOPE)
    .action(verb(() => import('../verbs/enable.js')))
  program
    .command('disable')
    .description('switch a server off, and keep its entry')
    .argument('<name>', 'the server')
    .option(...SCOPE)
    .action(verb(() => import('../verbs/disable.js')))
  program
    .command('import')
    .description('copy servers of other clients into your file')
    .argument('[client]', 'claude-code, claude-desktop, cursor, windsurf, vscode, codex, gemini or opencode')
    .option('--dry-run', 'only show what would happen')
    .option('--rename', 'take servers whose name is taken under another one')
    .option('--project', 'take servers of project files too')
    .action(verb(() => import('../verbs/import.js')))
  declareEnvironments(program, verb)
  program
    .command('config')
    .description('check | schema | path | trust [folder]')
    .argument('<action>', 'check the files, print a JSON Schema, print the path, or trust a project')
    .argument('[folder]', 'the project to trust (default: this folder)')
    .option('--strict', 'check: unknown members are errors')
    .option('--revoke', 'trust: take it back')
    .option(...SCOPE)
    .action(verb(() => import('../verbs/config.js')))
}

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value]
}
