import type { EffectiveServer, Reeve, StoredCredential } from '../../reeve.js'
import { type PrincipalOption, principalOf } from '../auth/principal.js'
import { signInLine, signInOf } from '../auth/sign-in-state.js'
import type { Cli } from '../cli.js'
import { openRuntime } from '../session.js'
import { keyColumns, keyMembers } from '../showing/server-names.js'
import { UsageError } from '../usage.js'
import { shownLogin } from './login.js'

/** The words of the reference (auth, 1.2) for what a server's authorization rests on. */
const WORDS = {
  unsupported: 'no login',
  logged_out: 'not logged in',
  logged_out_needs_reauthentication: 'login has ended',
  bearer_token: 'bearer token',
  oauth: 'logged in',
} as const

const JSON_WORDS = {
  unsupported: 'unsupported',
  logged_out: 'not_logged_in',
  logged_out_needs_reauthentication: 'not_logged_in',
  bearer_token: 'bearer_token',
  oauth: 'o_auth',
} as const

interface Row {
  readonly key: EffectiveServer['key']
  readonly state: keyof typeof WORDS
  readonly login: StoredCredential | undefined
}

/** `auth status`: what is stored for each server. Contacts none. */
export async function run(cli: Cli, action: string, options: PrincipalOption): Promise<number> {
  if (action !== 'status') throw new UsageError(`'auth' takes 'status', not '${action}'`)
  const whose = principalOf(options)
  await using runtime = await openRuntime(cli)
  const { reeve, incomplete } = runtime
  const { principal } = whose
  const rows = reeve.servers.map((server) => rowOf(reeve, server, principal))
  const signIn = signInOf(reeve)
  if (cli.json) cli.out.json({ ...whose, servers: rows.map(toJson), first_party: signIn })
  else {
    cli.out.table(rows, [
      ...keyColumns(rows),
      { title: 'STATUS', value: ({ state }) => WORDS[state] },
      { title: 'ISSUER', value: ({ login }) => login?.issuer },
      { title: 'SCOPES', value: ({ login }) => login?.scopes.join(' ') },
      { title: 'EXPIRES', value: ({ login }) => (login === undefined ? undefined : ending(login)) },
    ])
    cli.out.line(signInLine(signIn))
  }
  return incomplete ? 1 : 0
}

function rowOf({ logins }: Reeve, server: EffectiveServer, principal: string | undefined): Row {
  const { key, config } = server
  const { transport } = config
  if (!config.enabled || transport.type === 'stdio') return { key, state: 'unsupported', login: undefined }
  const names = [...Object.keys(transport.httpHeaders), ...Object.keys(transport.envHttpHeaders)]
  const hasOwn = names.some((name) => name.toLowerCase() === 'authorization')
  if (transport.bearerTokenEnvVar !== undefined || hasOwn) return { key, state: 'bearer_token', login: undefined }
  return { key, state: logins.state(server, principal), login: logins.find(server, principal) }
}

function toJson({ key, state, login }: Row) {
  return { ...keyMembers(key), auth_status: JSON_WORDS[state], login: login === undefined ? null : shownLogin(login) }
}

function ending({ expiresAt, refreshToken, grant }: StoredCredential): string {
  if (refreshToken !== undefined || grant === 'client_credentials') return 'renewed by itself'
  return expiresAt === undefined ? 'unknown' : new Date(expiresAt).toISOString()
}
