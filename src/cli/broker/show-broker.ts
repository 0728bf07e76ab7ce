import type { BrokerPlace, BrokerStatus } from '../../gateway/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import { count } from '../showing/units.js'

/** Prints how a broker is doing: itself, its clients, and the sets of servers that it runs for them. */
export function showBroker(cli: Cli, status: BrokerStatus, place: BrokerPlace): void {
  const { pid, version, rss, startedAt, idleMs, sessions, workspaces } = status
  const facts: readonly (readonly [string, string])[] = [
    ['process', String(pid)],
    ['version', version],
    ['since', new Date(startedAt).toISOString()],
    ['memory', `${Math.round(rss / 1024 / 1024)} MB`],
    ['ends', `${idleMs / 1000} s after its last client`],
    ['socket', place.socket.path],
    ['log', place.log],
  ]
  for (const [name, value] of facts) cli.out.line(`${name.padEnd(8)} ${oneLine(value)}`)
  cli.out.line()
  cli.out.line(count(sessions.length, 'client'))
  cli.out.table(sessions, [
    { title: 'CLIENT', value: (session) => clientName(session) },
    { title: 'PROCESS', value: (session) => String(session.pid), align: 'right' },
    { title: 'SINCE', value: (session) => new Date(session.since).toISOString() },
    { title: 'FOLDER', value: (session) => session.cwd },
  ])
  cli.out.line()
  cli.out.line(count(workspaces.length, 'configuration'))
  cli.out.table(workspaces, [
    { title: 'FILES', value: ({ configFiles }) => (configFiles.length === 0 ? 'own' : configFiles.join(' ')) },
    { title: 'FOLDER', value: ({ cwd }) => cwd },
    { title: 'CLIENTS', value: ({ clients }) => String(clients), align: 'right' },
    { title: 'SERVERS', value: ({ servers }) => servers.join(' ') },
  ])
}

/** As an MCP client calls itself; command lines of Reeve have no name of their own. */
function clientName({ mode, client }: BrokerStatus['sessions'][number]): string {
  const info = typeof client === 'object' && client !== null && 'info' in client ? client.info : undefined
  const { name, version } = (typeof info === 'object' && info !== null ? info : {}) as Record<string, unknown>
  if (typeof name !== 'string') return mode === 'thread' ? 'reeve' : '(not introduced)'
  return typeof version === 'string' ? `${name} ${version}` : name
}
