import type { RawTable } from '../../config/index.js'
import { UsageError } from '../usage.js'
import { type Members, pairs, secondsOf, variables, withoutAbsent } from './entry-members.js'

/** What `add` takes. Times are seconds. */
export interface AddOptions {
  readonly url?: string
  readonly transport?: string
  readonly env?: readonly string[]
  readonly envVar?: readonly string[]
  readonly cwd?: string
  readonly sandbox?: string
  readonly header?: readonly string[]
  readonly envHeader?: readonly string[]
  readonly bearerTokenEnvVar?: string
  readonly oauthClientId?: string
  readonly oauthResource?: string
  readonly environment?: string
  readonly startupTimeout?: string
  readonly toolTimeout?: string
  readonly required?: boolean
  readonly disabled?: boolean
}

/**
 * The entry of `[mcp_servers]` that a command line asks for.
 *
 * @throws UsageError for what doesn't go together
 */
export function entryFromOptions(command: readonly string[], options: AddOptions): RawTable {
  const [program, ...args] = command
  if (program === undefined && options.url === undefined)
    throw new UsageError('give a command (reeve add NAME -- COMMAND) or a URL (reeve add NAME --url URL)')
  if (program !== undefined && options.url !== undefined)
    throw new UsageError('a server has a command or a --url, not both')
  const own = program === undefined ? httpMembers(options) : stdioMembers(program, args, options)
  return withoutAbsent({
    ...own,
    environment_id: options.environment,
    enabled: options.disabled ? false : undefined,
    required: options.required ? true : undefined,
    startup_timeout_sec: secondsOf('--startup-timeout', options.startupTimeout),
    tool_timeout_sec: secondsOf('--tool-timeout', options.toolTimeout),
  })
}

function stdioMembers(command: string, args: readonly string[], options: AddOptions): Members {
  refuse(options, HTTP_ONLY, 'a command')
  if (options.transport !== undefined && options.transport !== 'stdio')
    throw new UsageError(`--transport ${options.transport} needs a --url`)
  return {
    command,
    args: args.length > 0 ? args : undefined,
    env: variables(options.env),
    env_vars: options.envVar,
    cwd: options.cwd,
    sandbox: options.sandbox,
  }
}

function httpMembers(options: AddOptions): Members {
  refuse(options, STDIO_ONLY, '--url')
  const { transport } = options
  if (transport !== undefined && !['http', 'streamable_http', 'streamable-http', 'sse'].includes(transport))
    throw new UsageError(`--transport is 'http' or 'sse' for a --url, not '${transport}'`)
  return {
    type: transport === 'sse' ? 'sse' : undefined,
    url: options.url,
    http_headers: pairs('--header', '"Name: value"', /^([^:=\s]+)\s*[:=]\s*([\s\S]*)$/, options.header),
    env_http_headers: pairs('--env-header', '"Name: VARIABLE"', /^([^:=\s]+)\s*[:=]\s*(\S+)$/, options.envHeader),
    bearer_token_env_var: options.bearerTokenEnvVar,
    oauth: options.oauthClientId === undefined ? undefined : { client_id: options.oauthClientId },
    oauth_resource: options.oauthResource,
  }
}

const STDIO_ONLY = { env: '--env', envVar: '--env-var', cwd: '--cwd', sandbox: '--sandbox' } as const
const HTTP_ONLY = {
  header: '--header',
  envHeader: '--env-header',
  bearerTokenEnvVar: '--bearer-token-env-var',
  oauthClientId: '--oauth-client-id',
  oauthResource: '--oauth-resource',
} as const

function refuse(options: AddOptions, foreign: Partial<Record<keyof AddOptions, string>>, beside: string): void {
  for (const [member, flag] of Object.entries(foreign))
    if (Object.hasOwn(options, member) && Reflect.get(options, member) !== undefined)
      throw new UsageError(`${flag} does not go with ${beside}`)
}
