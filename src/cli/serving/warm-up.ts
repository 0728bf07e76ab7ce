import type { EffectiveServer } from '../../catalog/index.js'
import { displayKey, keyText, LOCAL_ENVIRONMENT, type ServerKey, serverKey } from '../../identity/index.js'
import type { Reeve, Thread, ThreadOptions } from '../../reeve.js'
import type { Cli } from '../cli.js'
import { type Log, logEvent } from '../log.js'
import { oneLine } from '../printable.js'
import { count } from '../showing/units.js'

/**
 * Starts every server once, tells how many tools each has as it comes up, and ends them again: clients get servers of
 * their own. What is learnt stays in the cache. Those that take exchanged tokens wait for somebody who has one.
 */
export async function warmUp(
  cli: Cli,
  reeve: Reeve,
  log: Log,
  shown: Pick<ThreadOptions, 'environments' | 'only'>,
): Promise<void> {
  const width = Math.max(...possibleKeys(reeve, shown).map((key) => displayKey(key).length), 0)
  const chosen = shown.only ?? withoutExchanged(reeve)
  if (chosen?.length === 0) return
  let running: Thread | undefined
  const told = new Set<string>()
  const tell = (): void => {
    for (const { key, status, tools, error } of running?.servers() ?? []) {
      if (told.has(keyText(key)) || status === 'starting' || status === 'not_started') continue
      told.add(keyText(key))
      const name = displayKey(key).padEnd(width)
      const state = status === 'connected' ? count(tools ?? 0, 'tool') : (error?.message ?? status)
      cli.err.line(oneLine(`${name}  ${state}`))
    }
  }
  await using thread = await reeve.startThread(
    {
      ...shown,
      ...(chosen && { only: chosen }),
      ...(reeve.auth && { auth: reeve.auth }),
      naming: 'readable',
      appTools: true,
      enforceRequired: false,
      onEvent: (event) => {
        logEvent(log, event)
        if (event.type === 'status' && event.status !== 'starting') tell()
      },
    },
    cli.signal,
  )
  running = thread
  await thread.step({ wait: 'all', signal: cli.signal })
  tell()
}

/**
 * Undefined: all. The local user has no token to exchange, and would come to such a server as nobody, or with a login that the
 * others do not have. What environments contribute is left to the first client then.
 */
function withoutExchanged({ servers, logins }: Reeve): ThreadOptions['only'] {
  const isExchanged = (server: EffectiveServer) => {
    const { transport } = server.config
    const isSet = transport.type !== 'stdio' && transport.oauth?.tokenExchange !== undefined
    return isSet && logins.state(server) !== 'oauth'
  }
  if (!servers.some(isExchanged)) return undefined
  return servers
    .filter((server) => server.config.enabled && !isExchanged(server))
    .map(({ key: { name, environment } }) => ({ server: name, environment }))
}

/** Those of the configuration, and as environments would have servers of the same names: what to make room for. */
function possibleKeys({ servers, environments }: Reeve, shown: Pick<ThreadOptions, 'environments'>): ServerKey[] {
  const selected = shown.environments?.map(({ id }) => id) ?? environments.defaultSelection
  const elsewhere = selected.filter((id) => id !== LOCAL_ENVIRONMENT)
  return servers.flatMap(({ key }) => [key, ...elsewhere.map((id) => serverKey(key.name, id))])
}
