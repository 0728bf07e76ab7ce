import type { Reeve, ServerSelector, Thread, ThreadEvent, ThreadOptions } from '../reeve.js'
import type { Cli } from './cli.js'
import { logEvent, openLog } from './log.js'
import { oneLine } from './printable.js'
import { selectKey } from './selection.js'
import { tellProblems } from './showing/problems.js'

export interface OpenedRuntime extends AsyncDisposable {
  readonly reeve: Reeve
  /** Part of the configuration could not be used; the rest is there. */
  readonly incomplete: boolean
}

/** Opens the runtime as the command line says, and tells what is wrong with configuration and state. */
export async function openRuntime(cli: Cli): Promise<OpenedRuntime> {
  const { Reeve } = await import('../reeve.js')
  const { home, configFiles, cwd, env } = cli
  const reeve = await Reeve.open({ home, configFiles, cwd, env })
  tellProblems(cli, reeve.problems)
  for (const warning of reeve.warnings) cli.err.warn(oneLine(warning.message))
  const incomplete = reeve.problems.some(({ severity }) => severity === 'error')
  return { reeve, incomplete, [Symbol.asyncDispose]: () => reeve.close() }
}

export type SessionOptions = Pick<ThreadOptions, 'only' | 'onApproval' | 'onEvent' | 'enforceRequired'>

/**
 * Opens a runtime with one thread, hands the thread to `use`, and ends every server again, whatever happens. `only`
 * restricts it to the servers that the verb needs; the others are not started.
 *
 * @returns what `use` gives, but never 0 when part of the configuration could not be used
 */
export async function withThread(
  cli: Cli,
  options: SessionOptions,
  use: (thread: Thread) => Promise<number>,
): Promise<number> {
  const [runtime, log] = await Promise.all([openRuntime(cli), openLog(cli)])
  await using opened = runtime
  const onEvent = (event: ThreadEvent): void => {
    logEvent(log, event)
    options.onEvent?.(event)
  }
  const keys = opened.reeve.servers.map(({ key }) => key)
  for (const selector of options.only ?? []) selectKey(keys, selector)
  await using thread = await opened.reeve.startThread(
    { naming: 'readable', appTools: true, ...options, onEvent },
    cli.signal,
  )
  const code = await use(thread)
  return opened.incomplete && code === 0 ? 1 : code
}

/**
 * The same for verbs that ask one server, or all: they are up (or failed) when `use` runs.
 * @throws the startup error of the one server that was named
 */
export function withServers(
  cli: Cli,
  selector: ServerSelector | undefined,
  use: (thread: Thread) => Promise<number>,
): Promise<number> {
  const only = selector === undefined ? {} : { only: [selector] }
  cli.err.progress(selector === undefined ? 'starting the servers' : `starting ${oneLine(selector.server)}`)
  return withThread(cli, { ...only, enforceRequired: false }, async (thread) => {
    if (selector !== undefined) await thread.client(selector, { signal: cli.signal })
    await thread.step({ wait: 'all', signal: cli.signal })
    cli.err.clear()
    return use(thread)
  })
}
