import type { ServerKey } from '../../identity/index.js'
import type { ServerSelector } from '../../threads/index.js'
import { cachedTools, showCached } from '../cached-tools.js'
import type { Cli } from '../cli.js'
import { type EnvironmentOption, optionalSelector } from '../selection.js'
import { withThread } from '../session.js'
import type { SessionOptions } from '../session-options.js'
import { failuresOf, reportFailures } from '../showing/failures.js'
import { byServerAndName, type ListedTool, showTools } from '../showing/tool-list.js'

export interface ToolsOptions extends EnvironmentOption {
  /** Ask the servers instead of the cache. */
  readonly refresh?: boolean
}

/**
 * Lists tools. A server that was seen before is not started: only those whose entry is new or has changed. Where selected
 * environments may have servers of their own, these are asked, and all servers with them.
 */
export async function run(cli: Cli, name: string | undefined, options: ToolsOptions): Promise<number> {
  const selector = optionalSelector(name, options)
  const asked = selector === undefined ? {} : { only: [selector] }
  if (options.refresh) return showStarted(cli, selector, { fresh: true, ...asked }, [])
  const cached = await cachedTools(cli, selector)
  if (cached.mayBeMore) return showStarted(cli, selector, asked, [])
  if (cached.missing.length > 0) return showStarted(cli, selector, { only: cached.missing.map(exactly) }, cached.tools)
  return showCached(cli, cached)
}

/** Starts these servers (or all) and shows their tools among those that are known already. */
function showStarted(
  cli: Cli,
  selector: ServerSelector | undefined,
  servers: Pick<SessionOptions, 'only' | 'fresh'>,
  known: readonly ListedTool[],
): Promise<number> {
  return withThread(cli, { ...servers, enforceRequired: false }, async (thread) => {
    cli.err.progress('asking the servers')
    if (selector !== undefined) await thread.client(selector, { signal: cli.signal })
    const { tools } = await thread.step({ wait: 'all', signal: cli.signal })
    const failures = failuresOf(thread.servers(), [])
    cli.err.clear()
    showTools(cli, { tools: [...known, ...tools].sort(byServerAndName), failures })
    return reportFailures(cli, failures)
  })
}

const exactly = ({ name, environment }: ServerKey): ServerSelector => ({ server: name, environment })
