import type { Command } from 'commander'
import type { VerbRunner } from './verb.js'

export function declareLogins(program: Command, verb: VerbRunner): void {
  program.commandsGroup('Log in:')
  program
    .command('login')
    .description('log in to a server with OAuth')
    .argument('<name>', 'the server')
    .option('--env <id>', 'the environment of the server')
    .option('--no-browser', 'print the address only; paste the one that the browser ends at')
    .option('--scope <scope>', 'scopes to ask for instead of those that the server names; repeatable', collect)
    .option('--client-secret-env <name>', 'variable that holds the secret of a client registered beforehand')
    .option('--client-credentials', 'log in as the client itself, without a user; it needs a secret or a key')
    .option('--client-key-file <file>', 'private key (PEM) of a client registered beforehand, instead of a secret')
    .option('--principal <id>', 'for a user of the gateway, by the id that `reeve audit` shows')
    .option('--timeout <seconds>', 'how long to wait for you (default: 300)')
    .action(verb(() => import('../verbs/login.js')))
  program
    .command('logout')
    .description('forget the login to a server, or sign out of the first-party backend')
    .argument('[name]', 'the server')
    .option('--env <id>', 'the environment of the server')
    .option('--principal <id>', 'the login of a user of the gateway')
    .option('--first-party', 'the account that servers with auth = "chatgpt" and hosted apps use')
    .action(verb(() => import('../verbs/logout.js')))
  program
    .command('auth')
    .description('status: who is signed in, and what is stored for each server; contacts none')
    .argument('<action>', "'status'")
    .option('--principal <id>', 'the logins of a user of the gateway')
    .action(verb(() => import('../verbs/auth.js')))
}

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value]
}
