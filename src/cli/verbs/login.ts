import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ClientSettings } from '../../auth/index.js'
import { displayKey } from '../../identity/index.js'
import type { StoredCredential } from '../../reeve.js'
import { findLoginServer } from '../auth/find-server.js'
import { runLogin } from '../auth/login-flow.js'
import { type PrincipalOption, principalOf, refuseExchanged } from '../auth/principal.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import type { EnvironmentOption } from '../selection.js'
import { openRuntime } from '../session.js'
import { keyMembers } from '../showing/server-names.js'
import { UsageError } from '../usage.js'

export interface LoginVerbOptions extends EnvironmentOption, PrincipalOption {
  readonly browser: boolean
  readonly scope?: readonly string[]
  readonly clientSecretEnv?: string
  readonly clientKeyFile?: string
  readonly clientCredentials?: boolean
  readonly timeout?: string
}

/** Milliseconds that a user may take (reference: auth, 1.4). */
const PATIENCE = 300_000

/** Logs in to a server with OAuth; every process that uses the home works with the login at once. */
export async function run(cli: Cli, name: string, options: LoginVerbOptions): Promise<number> {
  const { browser } = options
  const client = clientOf(cli, options)
  const scopes = scopesOf(options)
  const whose = principalOf(options)
  await using runtime = await openRuntime(cli)
  const { reeve } = runtime
  const server = await findLoginServer(reeve, name, options, cli.signal)
  refuseExchanged(server, whose.principal)
  const login = { client, ...whose, ...(scopes && { scopes }) }
  const {
    credential,
    backup,
    warnings = [],
  } = options.clientCredentials === true
    ? await reeve.loginUnattended(server, { ...login, grant: { type: 'client_credentials' }, signal: cli.signal })
    : await runLogin(cli, reeve, server, { browser, waitMs: waitOf(options), login })
  if (backup !== undefined) cli.err.warn(`the file of logins was damaged: what it held is in ${backup}`)
  for (const { message } of warnings) cli.err.warn(oneLine(message))
  if (cli.json) cli.out.json({ ...keyMembers(server.key), ...whose, ...shownLogin(credential) })
  else {
    const forWhom = whose.principal === undefined ? '' : ` for ${whose.principal}`
    cli.out.line(`logged in to ${oneLine(displayKey(server.key))} at ${oneLine(credential.issuer)}${forWhom}`)
  }
  return 0
}

/** What may be shown of a login: no token, no secret. */
export function shownLogin({ issuer, client, scopes, expiresAt, loggedInAt }: StoredCredential) {
  return {
    issuer,
    client_id: client.id,
    scopes,
    logged_in_at: new Date(loggedInAt).toISOString(),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  }
}

function clientOf(cli: Cli, options: LoginVerbOptions): ClientSettings {
  const { clientKeyFile, clientCredentials } = options
  const secret = secretOf(cli, options)
  if (clientCredentials === true && secret === undefined && clientKeyFile === undefined)
    throw new UsageError('--client-credentials needs --client-secret-env or --client-key-file')
  if (secret !== undefined && clientKeyFile !== undefined)
    throw new UsageError('a client has a secret or a key: give one of --client-secret-env and --client-key-file')
  const documentUrl = cli.env.REEVE_OAUTH_CLIENT_METADATA_URL
  return {
    ...(secret !== undefined && { secret }),
    ...(clientKeyFile !== undefined && { privateKey: keyIn(resolve(cli.cwd, clientKeyFile)) }),
    ...(documentUrl && { documentUrl }),
  }
}

function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? cause.code : cause
    throw new UsageError(`${file} cannot be read (${why})`, { place: file, cause })
  }
}

function scopesOf({ scope }: LoginVerbOptions): readonly string[] | undefined {
  return scope?.flatMap((each) => each.split(/[\s,]+/)).filter((each) => each !== '')
}

/** By a variable: a secret on a command line is seen by everybody on the machine. */
function secretOf(cli: Cli, { clientSecretEnv }: LoginVerbOptions): string | undefined {
  if (clientSecretEnv === undefined) return undefined
  const secret = cli.env[clientSecretEnv]
  if (!secret) throw new UsageError(`environment variable ${clientSecretEnv} is not set`)
  return secret
}

function waitOf({ timeout }: LoginVerbOptions): number {
  if (timeout === undefined) return PATIENCE
  const seconds = Number(timeout)
  if (!Number.isFinite(seconds) || seconds < 1) throw new UsageError('--timeout takes seconds, 1 or more')
  return seconds * 1000
}
