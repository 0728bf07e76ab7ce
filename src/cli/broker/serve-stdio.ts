import { bridgeStdio, loadStarter } from '../../gateway/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import { tellProblems } from '../showing/problems.js'
import { joinAs, tryJoin, type Wanted } from './broker-of.js'

/**
 * Serves the client on stdin and stdout from the broker: frames pass, and nothing of the runtime is loaded here. Ends
 * when the client leaves.
 *
 * @returns the exit code; undefined when there is no broker to be had, and nothing was read from stdin yet
 */
export async function serveFromBroker(
  cli: Cli,
  choice: Pick<Wanted, 'environments' | 'permissions' | 'transparent' | 'only'>,
): Promise<number | undefined> {
  const wanted: Wanted = { mode: 'mcp', ...choice }
  const joined = await tryJoin(cli, wanted)
  if (joined === undefined) return undefined
  tellProblems(cli, joined.problems)
  for (const warning of joined.warnings) cli.err.warn(oneLine(warning))
  if (cli.stdin.isTTY) cli.err.line('waiting for an MCP client on stdin; Ctrl-D ends')
  await loadStarter()
  const end = await bridgeStdio({
    socket: joined.socket,
    rejoin: async (resumed) => (await joinAs(cli, { ...wanted, resumed })).socket,
    onNote: (text) => cli.err.line(oneLine(text)),
    signal: cli.signal,
  })
  return end === 'broker_lost' ? 1 : 0
}
