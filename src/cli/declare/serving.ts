import type { Command } from 'commander'
import { declareSandbox } from './sandbox.js'
import type { VerbRunner } from './verb.js'

export function declareServing(program: Command, verb: VerbRunner): void {
  program.commandsGroup('Serve:')
  program
    .command('serve')
    .description('serve every server behind one MCP endpoint')
    .option('--stdio', 'MCP on stdin and stdout, for a client that starts reeve itself')
    .option('--http <host:port>', 'MCP over HTTP (default: 127.0.0.1:7411; port 0 takes a free one)')
    .option('--no-token', 'no bearer token: every program of this machine may connect')
    .option('--token-file <file>', 'where the bearer token is kept (default: gateway-token in the home)')
    .option('--auth-issuer <url>', 'clients log in at this authorization server (default: [gateway.auth])')
    .option('--auth-resource <url>', "the gateway's URL as clients know it, which tokens must be for")
    .option('--auth-audience <aud...>', 'what the aud of tokens may be (default: the resource)')
    .option('--auth-jwks-url <url>', 'where the keys of the issuer are (default: as its metadata says)')
    .option('--auth-scope <scope...>', 'scopes that every request needs')
    .option('--no-auth', 'leave [gateway.auth] out')
    .option('--env <id...>', 'environments whose servers are shown, in order (default: as the configuration says)')
    .option(
      '--permissions <profile>',
      'what servers are told that commands may do (default: as the configuration says)',
    )
    .option('--transparent', 'show the only server as itself: its own names, capabilities and instructions')
    .option('--only <name>', 'with --transparent: the server of that name; --env ID for the one of an environment')
    .action(verb(() => import('../verbs/serve.js')))
  program
    .command('status')
    .description('start the servers and show the state of each')
    .argument('[name]', 'one server only')
    .option('--env <id>', 'the environment of the server')
    .action(verb(() => import('../verbs/status.js')))
  program
    .command('broker')
    .description('status | stop | run')
    .argument('<action>', "look at the process that runs this home's servers, end it, or be it")
    .option('--idle <seconds>', 'run: how long it stays without a client (default: 300)')
    .action(verb(() => import('../verbs/broker.js')))
  program
    .command('doctor')
    .description('name every problem, where it is and how to mend it')
    .argument('[name]', 'one server only')
    .option('--env <id>', 'the environment of the server')
    .option('--no-start', 'check the configuration only')
    .action(verb(() => import('../verbs/doctor.js')))
  program
    .command('executor')
    .description('run processes, files and HTTP requests of this machine for a client of the executor protocol')
    .option('--listen <url>', "ws://IP:PORT (port 0 takes a free one), or 'stdio'", 'ws://127.0.0.1:0')
    .option('--ws-auth <way>', "who may connect: 'capability-token' or 'signed-bearer-token'")
    .option('--ws-token-file <file>', 'the token')
    .option('--ws-token-sha256 <hex>', 'SHA-256 of the token, instead of its file')
    .option('--ws-shared-secret-file <file>', 'the secret that signs tokens (HS256), 32 bytes or more')
    .option('--ws-issuer <text>', 'the issuer that a signed token must name')
    .option('--ws-audience <text>', 'the audience that a signed token must name')
    .option('--ws-max-clock-skew-seconds <n>', 'how far clocks may differ (default: 30)')
    .action(verb(() => import('../verbs/executor.js')))
  declareSandbox(program, verb)
}
