import type { Command } from 'commander'
import type { VerbRunner } from './verb.js'

const ENVIRONMENT = ['--env <id>', 'the environment of the server'] as const
const OUTPUT = ['--output <dir>', 'save images, audio and other media there'] as const
const PERMISSIONS = ['--permissions <profile>', 'what the server is told that commands may do'] as const
const TIMEOUT = ['--timeout <seconds>', 'how long the server may take'] as const

export function declareUse(program: Command, verb: VerbRunner): void {
  program.commandsGroup('Use servers:')
  program
    .command('tools')
    .description('list tools; from the cache where a server was seen before')
    .argument('[name]', 'one server only')
    .option(...ENVIRONMENT)
    .option('--refresh', 'ask the servers again')
    .action(verb(() => import('../verbs/tools.js')))
  program
    .command('call')
    .description('call a tool')
    .argument('<name>', 'the server')
    .argument('<tool>', 'the tool, as the server calls it')
    .argument('[key=value...]', "arguments, typed by the tool's schema; '-' reads a JSON object from stdin")
    .option(...ENVIRONMENT)
    .option('--input <json>', "arguments as a JSON object ('-' for stdin)")
    .option(...PERMISSIONS)
    .option(...OUTPUT)
    .option(...TIMEOUT)
    .option('-y, --yes', 'approve a tool that the configuration asks about')
    .action(verb(() => import('../verbs/call.js')))
  program
    .command('resources')
    .description('list resources and resource templates')
    .argument('[name]', 'one server only')
    .option(...ENVIRONMENT)
    .action(verb(() => import('../verbs/resources.js')))
  program
    .command('read')
    .description('read a resource')
    .argument('<name>', 'the server')
    .argument('<uri>', 'the resource')
    .option(...ENVIRONMENT)
    .option(...OUTPUT)
    .option(...TIMEOUT)
    .action(verb(() => import('../verbs/read.js')))
  program
    .command('prompts')
    .description('list prompts')
    .argument('[name]', 'one server only')
    .option(...ENVIRONMENT)
    .action(verb(() => import('../verbs/prompts.js')))
  program
    .command('prompt')
    .description('get a prompt')
    .argument('<name>', 'the server')
    .argument('<prompt>', 'the prompt')
    .argument('[key=value...]', 'its arguments')
    .option(...ENVIRONMENT)
    .option(...OUTPUT)
    .option(...TIMEOUT)
    .action(verb(() => import('../verbs/prompt.js')))
  program
    .command('approvals')
    .description('list | export | allow NAME TOOL | revoke NAME [TOOL]: calls that are allowed for good')
    .argument('<action>', "what to do; 'allow' holds for the tool and its server as they are now")
    .argument('[name]', 'the server')
    .argument('[tool]', 'the tool, as the server calls it')
    .option(...ENVIRONMENT)
    .option('--principal <id>', "whose; 'owner' is the local user (default: allow owner's, otherwise all)")
    .option('--all', 'revoke: everything')
    .action(verb(() => import('../verbs/approvals.js')))
  program
    .command('apps')
    .description('list | refresh | directory: the hosted apps of the account that is signed in')
    .argument('[action]', 'list (default), refresh or directory')
    .action(verb(() => import('../verbs/apps.js')))
}
