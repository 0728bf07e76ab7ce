import { ReeveError } from '../errors.js'
import type { Cli } from './cli.js'
import { oneLine, printable } from './printable.js'
import { UsageError } from './usage.js'

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/**
 * Reports what a verb threw: one readable line and the next step, or `{"error":{…}}` with `--json`. Gives the exit code.
 *
 * @param help what prints how the verb is used
 */
export function reportFailure(cli: Cli, error: unknown, help = 'reeve --help'): number {
  const code = error instanceof UsageError ? EXIT.usage : EXIT.failed
  if (cli.json) {
    cli.err.error(JSON.stringify({ error: errorBody(error) }))
    return code
  }
  cli.err.error(`${cli.err.style.red('error:')} ${withPlace(error)}`)
  const next = error instanceof UsageError && error.code === 'usage' ? `See '${help}'.` : nextStep(error)
  if (next !== undefined) cli.err.error(`  ${cli.err.style.dim(next)}`)
  if (!(error instanceof ReeveError) && error instanceof Error && showsStacks(cli) && error.stack) {
    cli.err.error(printable(error.stack))
  }
  return code
}

/** The machine form of any failure; nothing but code and message when it is none of ours. */
export function errorBody(error: unknown): Record<string, unknown> {
  if (error instanceof ReeveError) return error.toJSON()
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) }
}

function withPlace(error: unknown): string {
  const message = printable(error instanceof Error ? error.message : String(error))
  if (!(error instanceof ReeveError) || error.place === undefined) return message
  const place = printable(error.place)
  return message.includes(place) ? message : `${message} (${place})`
}

const showsStacks = (cli: Cli): boolean => cli.logLevel === 'debug' || cli.logLevel === 'trace'

/** What to do now, by the error's code. */
function nextStep(error: unknown): string | undefined {
  if (!(error instanceof ReeveError)) {
    return "This is a defect of reeve: run again with '--log-level debug' and report what it prints."
  }
  const choices = error.code === 'unknown_server' ? error.data?.choices : undefined
  if (Array.isArray(choices) && choices.length > 0) return withChoices(choices)
  const step = Object.hasOwn(NEXT, error.code) ? NEXT[error.code] : undefined
  return step?.(printable(error.key?.name ?? 'NAME'))
}

/** The name is right, its environment is not. */
function withChoices(environments: readonly unknown[]): string {
  const ways = environments.map((id) => (typeof id === 'string' ? `'--env ${oneLine(id)}'` : 'no --env'))
  return `Use ${ways.join(' or ')}.`
}

const NEXT: Readonly<Record<string, (name: string) => string>> = {
  invalid_argument: () => "See 'reeve tools NAME' or 'reeve prompts NAME' for what it takes.",
  unknown_server: () => "See 'reeve list' for the servers that are configured.",
  unknown_environment: () => "See 'reeve env list' for the environments that are configured.",
  environment_unreachable: () => "See 'reeve env check' for what is in the way.",
  environment_unauthorized: () => "See 'reeve env check' for what is in the way.",
  environment_recovering: () => 'Its connection is being taken up again: try again soon.',
  ambiguous_server: () => 'Name the environment with --env ID.',
  startup_failed: (name) => `See 'reeve doctor ${name}' for what the server said.`,
  process_failed: (name) => `See 'reeve doctor ${name}' for what the server said.`,
  required_servers_failed: () => "See 'reeve doctor' for what the servers said.",
  not_connected: (name) => `See 'reeve status ${name}'.`,
  auth_required: (name) =>
    `Log in with 'reeve login ${name}', or give it 'bearer_token_env_var' or 'http_headers' in its configuration.`,
  insufficient_scope: (name) => `Log in again with 'reeve login ${name}': it asks for what the server wants, too.`,
  oauth_scope_refused: () => 'Log out first, or say which scopes to ask for with --scope.',
  oauth_unsupported: (name) => `Give '${name}' 'bearer_token_env_var' or 'http_headers' in its configuration.`,
  oauth_client_unknown: () => "Put the client id that was registered under 'oauth.client_id' of the server.",
  oauth_callback_unavailable: () =>
    "Set 'mcp_oauth_callback_port' to a free port, or paste the address that the browser ends at.",
  credentials_invalid: () => "'reeve login NAME' moves the damaged file aside and begins a new one.",
  keychain_unavailable: () =>
    "Unlock the keychain, or keep logins in a file: mcp_oauth_credentials_store = 'file' in the configuration.",
  tool_disabled: (name) => `See enabled_tools and disabled_tools of '${name}' in the configuration.`,
  timeout: () => 'Give it more time with --timeout SECONDS, or tool_timeout_sec in the configuration.',
  broker_unreachable: () => "See 'reeve broker status', or use --private.",
  broker_lost: () => 'Run it again: another broker is started.',
  stale_catalog: () => 'The server changed its tools meanwhile: run it again.',
}
