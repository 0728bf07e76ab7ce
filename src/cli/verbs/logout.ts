import { LOCAL_ENVIRONMENT } from '../../identity/index.js'
import { type PrincipalOption, principalOf } from '../auth/principal.js'
import { signOut } from '../auth/sign-out.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import type { EnvironmentOption } from '../selection.js'
import { openRuntime } from '../session.js'
import { UsageError } from '../usage.js'

interface LogoutOptions extends EnvironmentOption, PrincipalOption {
  readonly firstParty?: true
}

/** Forgets the logins to a server, also to one that is not configured any more, or signs out. 1 when there was nothing. */
export async function run(cli: Cli, name: string | undefined, options: LogoutOptions): Promise<number> {
  const { principal } = principalOf(options)
  const isAlone = name === undefined && options.env === undefined && options.principal === undefined
  if (options.firstParty === true && isAlone) return signOut(cli)
  if (name === undefined || options.firstParty === true)
    throw new UsageError("'logout' takes the name of a server, or --first-party alone")
  await using runtime = await openRuntime(cli)
  const { reeve } = runtime
  const placed = reeve.servers.find(({ key }) => key.name === name)?.config.environmentId
  const environment = options.env ?? placed ?? LOCAL_ENVIRONMENT
  const removed = await reeve.logout(name, environment, principal)
  if (cli.json) {
    cli.out.json({ server: name, environment_id: environment, ...(principal !== undefined && { principal }), removed })
  } else if (removed.length > 0) cli.out.line(`logged out of ${oneLine(name)}`)
  else cli.err.line(`nobody is logged in to ${oneLine(name)}`)
  return removed.length > 0 ? 0 : 1
}
