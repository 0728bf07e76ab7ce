import { LOCAL_ENVIRONMENT } from '../../identity/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import type { EnvironmentOption } from '../selection.js'
import { openRuntime } from '../session.js'

/** Forgets the logins to a server, also to one that is not configured any more. 1 when there was none. */
export async function run(cli: Cli, name: string, options: EnvironmentOption): Promise<number> {
  await using runtime = await openRuntime(cli)
  const { reeve } = runtime
  const placed = reeve.servers.find(({ key }) => key.name === name)?.config.environmentId
  const environment = options.env ?? placed ?? LOCAL_ENVIRONMENT
  const removed = await reeve.logout(name, environment)
  if (cli.json) {
    cli.out.json({ server: name, environment_id: environment, removed })
  } else if (removed.length > 0) cli.out.line(`logged out of ${oneLine(name)}`)
  else cli.err.line(`nobody is logged in to ${oneLine(name)}`)
  return removed.length > 0 ? 0 : 1
}
