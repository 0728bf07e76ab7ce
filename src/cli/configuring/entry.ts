import type { Raw, RawTable } from '../../config/index.js'
import { UsageError } from '../usage.js'

/** What `add` takes. Times are seconds. */
export interface AddOptions {
  readonly url?: string
  readonly transport?: string
  readonly env?: readonly string[]
  readonly envVar?: readonly string[]
  readonly cwd?: string
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
    startup_timeout_sec: seconds('--startup-timeout', options.startupTimeout),
    tool_timeout_sec: seconds('--tool-timeout', options.toolTimeout),
  })
}

type Members = Record<string, Raw | undefined>

function stdioMembers(command: string, args: readonly string[], options: AddOptions): Members {
  refuse(options, HTTP_ONLY, 'a command')
  if (options.transport !== undefined && options.transport !== 'stdio')
    throw new UsageError(`--transport ${options.transport} needs a --url`)
  return {
    command,
    args: args.length > 0 ? args : undefined,
    env: pairs('--env', 'KEY=VALUE', /^([^=]+)=([\s\S]*)$/, options.env),
    env_vars: options.envVar,
    cwd: options.cwd,
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

const STDIO_ONLY = { env: '--env', envVar: '--env-var', cwd: '--cwd' } as const
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

/** The text of the value may be a secret: errors show the name alone. */
function pairs(
  flag: string,
  form: string,
  pattern: RegExp,
  texts: readonly string[] | undefined,
): Record<string, string> | undefined {
  if (texts === undefined || texts.length === 0) return undefined
  const table: Record<string, string> = Object.create(null)
  for (const text of texts) {
    const [, name, value] = pattern.exec(text) ?? []
    if (name === undefined || value === undefined) throw new UsageError(`${flag} takes ${form}`)
    table[name] = value
  }
  return table
}

function seconds(flag: string, text: string | undefined): number | bigint | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(text)) throw new UsageError(`${flag} takes a number of seconds, not '${text}'`)
  return text.includes('.') ? Number(text) : BigInt(text)
}

function withoutAbsent(members: Members): RawTable {
  const table: Record<string, Raw> = Object.create(null)
  for (const [name, value] of Object.entries(members)) if (value !== undefined) table[name] = value
  return table
}
