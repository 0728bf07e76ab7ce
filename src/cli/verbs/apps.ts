import { ReeveError } from '../../errors.js'
import type { DirectoryApp, HostedApp, Thread, ThreadOptions } from '../../reeve.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import { openRuntime } from '../session.js'
import { UsageError } from '../usage.js'

/**
 * `apps [list] | refresh | directory`: the hosted apps of who is signed in to this home.
 *
 * @throws UsageError; ReeveError `no_hosted_apps`; FirstPartyAuthError, StartupFailedError and what the backend refuses with
 */
export async function run(cli: Cli, action = 'list'): Promise<number> {
  if (action !== 'list' && action !== 'refresh' && action !== 'directory')
    throw new UsageError(`'apps ${action}' is not known: list, refresh or directory`)
  await using runtime = await openRuntime(cli)
  const { reeve, incomplete } = runtime
  const auth = reeve.auth && { auth: reeve.auth }
  const start = (only: ThreadOptions['only'] = []) =>
    reeve.startThread({ ...auth, only, enforceRequired: false, warm: false }, cli.signal)
  await using thread = await start()
  const options = { signal: cli.signal }
  if (action === 'directory') showDirectory(cli, await thread.apps.discover(options))
  else {
    refuseWithout(thread)
    await using own = await start([{ server: 'codex_apps' }])
    showApps(cli, await own.apps[action](options))
  }
  return incomplete ? 1 : 0
}

function refuseWithout({ apps }: Thread): void {
  if (apps.isOn) return
  const why = 'there are none: `apps = true` under `[features]` is needed, and a sign-in (see `reeve auth status`)'
  throw new ReeveError('no_hosted_apps', why)
}

function showApps(cli: Cli, apps: readonly HostedApp[]): void {
  if (cli.json) cli.out.json(apps.map(({ installUrl, ...app }) => ({ ...app, install_url: installUrl ?? null })))
  else if (apps.length === 0) cli.err.line('the account has no hosted apps')
  else
    cli.out.table(apps, [
      { title: 'APP', value: ({ name, id }) => oneLine(name ?? id ?? '-') },
      { title: 'CONNECTOR', value: ({ id }) => (id === null ? undefined : oneLine(id)) },
      { title: 'TOOLS', value: ({ tools }) => String(tools.length) },
      { title: 'STATUS', value: ({ enabled }) => (enabled ? 'enabled' : 'disabled') },
    ])
}

function showDirectory(cli: Cli, apps: readonly DirectoryApp[]): void {
  if (cli.json) cli.out.json(apps.map(({ installUrl, ...app }) => ({ ...app, install_url: installUrl })))
  else
    cli.out.table(apps, [
      { title: 'APP', value: ({ name }) => oneLine(name) },
      { title: 'CONNECTOR', value: ({ id }) => oneLine(id) },
      { title: 'SIGN IN', value: ({ installUrl }) => installUrl },
    ])
}
