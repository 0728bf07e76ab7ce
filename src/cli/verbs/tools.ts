import { compareSerialised, type ServerKey } from '../../identity/index.js'
import type { ServerSelector, StepTool } from '../../threads/index.js'
import { type CachedTools, cachedTools } from '../cached-tools.js'
import type { Cli } from '../cli.js'
import { type EnvironmentOption, optionalSelector } from '../selection.js'
import { tellProblems, withThread } from '../session.js'
import { failuresOf, reportFailures } from '../showing/failures.js'
import { showTools } from '../showing/tool-list.js'

export interface ToolsOptions extends EnvironmentOption {
  /** Ask the servers instead of the cache. */
  readonly refresh?: boolean
}

/** Lists tools. A server that was seen before is not started: only those whose entry is new or has changed. */
export async function run(cli: Cli, name: string | undefined, options: ToolsOptions): Promise<number> {
  const selector = optionalSelector(name, options)
  if (options.refresh) return showStarted(cli, selector, selector === undefined ? undefined : [selector], [])
  const cached = await cachedTools(cli, selector)
  if (cached.missing.length > 0) return showStarted(cli, selector, cached.missing.map(exactly), cached.tools)
  return showCached(cli, cached)
}

function showCached(cli: Cli, { tools, config }: CachedTools): number {
  tellProblems(cli, config.problems)
  showTools(cli, { tools, failures: [] })
  return config.problems.some(({ severity }) => severity === 'error') ? 1 : 0
}

/** Starts `only` (or all) and shows their tools among those that are known already. */
function showStarted(
  cli: Cli,
  selector: ServerSelector | undefined,
  only: readonly ServerSelector[] | undefined,
  known: readonly StepTool[],
): Promise<number> {
  return withThread(cli, { ...(only !== undefined && { only }), enforceRequired: false }, async (thread) => {
    cli.err.progress('asking the servers')
    if (selector !== undefined) await thread.client(selector, { signal: cli.signal })
    const { tools } = await thread.step({ wait: 'all', signal: cli.signal })
    const failures = failuresOf(thread.servers(), [])
    cli.err.clear()
    showTools(cli, { tools: [...known, ...tools].sort(asOffered), failures })
    return reportFailures(cli, failures)
  })
}

const exactly = ({ name, environment }: ServerKey): ServerSelector => ({ server: name, environment })

/** The order of a whole listing: by server, then by name. */
function asOffered(a: StepTool, b: StepTool): number {
  return compareSerialised(a.key, b.key) || (a.name < b.name ? -1 : Number(a.name > b.name))
}
