import { GATEWAY_FEATURES } from '../gateway/index.js'
import type { Reeve, ReeveOptions, ServerSelector, ThreadEvent, ThreadOptions, ToolThread } from '../reeve.js'
import { openRemoteSession } from './broker/remote-session.js'
import type { Cli } from './cli.js'
import { logEvent, openLog } from './log.js'
import { oneLine } from './printable.js'
import { withClosestName } from './selection.js'
import { isIncomplete, type SessionOptions, threadOptions } from './session-options.js'
import { tellProblems } from './showing/problems.js'
import { isLack } from './thread-problems.js'

export interface OpenedRuntime extends AsyncDisposable {
  readonly reeve: Reeve
  /** Part of the configuration could not be used; the rest is there. */
  readonly incomplete: boolean
}

/** Opens the runtime as the command line says, and tells what is wrong with configuration and state. */
export async function openRuntime(cli: Cli, options: Pick<ReeveOptions, 'idleMs'> = {}): Promise<OpenedRuntime> {
  const reeve = await openReeve(cli, options)
  tellProblems(cli, reeve.problems)
  for (const warning of reeve.warnings) cli.err.warn(oneLine(warning.message))
  return { reeve, incomplete: isIncomplete(reeve.problems), [Symbol.asyncDispose]: () => reeve.close() }
}

/** The runtime as the command line says; what is wrong is the caller's to tell. */
export async function openReeve(cli: Cli, options: Pick<ReeveOptions, 'idleMs'> = {}): Promise<Reeve> {
  const { Reeve } = await import('../reeve.js')
  const { home, configFiles, cwd, env, entry } = cli
  return Reeve.open({
    home,
    configFiles,
    cwd,
    env,
    featureDefaults: GATEWAY_FEATURES,
    credentials: { from: 'home' },
    ...(entry !== undefined && { commandLine: entry }),
    ...options,
  })
}

/** Whether something of what a verb about all servers should show could not be found out; its problems are in the log. */
class Lacks {
  readonly #options: SessionOptions
  any = false

  constructor(options: SessionOptions) {
    this.#options = options
  }

  heard(event: ThreadEvent): void {
    const { only, onEvent } = this.#options
    if (only === undefined && event.type === 'problem' && isLack(event.problem)) this.any = true
    onEvent?.(event)
  }
}

/** A thread for a verb, wherever it lives. */
interface OpenedThread extends AsyncDisposable {
  readonly thread: ToolThread
  readonly incomplete: boolean
}

/**
 * Opens a thread and hands it to `use`: in the broker, whose servers stay up for the next one, or in a runtime of this
 * process, which ends every server again whatever happens. `only` restricts it to the servers that the verb needs; the
 * others are not started.
 *
 * @returns what `use` gives, but never 0 when part of the configuration could not be used
 */
export async function withThread(
  cli: Cli,
  options: SessionOptions,
  use: (thread: ToolThread) => Promise<number>,
): Promise<number> {
  const lacks = new Lacks(options)
  const given = threadOptions({ ...options, onEvent: (event) => lacks.heard(event) })
  await using opened = (options.fresh ? undefined : await inBroker(cli, given)) ?? (await inThisProcess(cli, given))
  const code = await use(opened.thread)
  return (opened.incomplete || lacks.any) && code === 0 ? 1 : code
}

async function inBroker(cli: Cli, options: ThreadOptions): Promise<OpenedThread | undefined> {
  const session = await openRemoteSession(cli, options)
  if (session === undefined) return undefined
  const { thread, problems } = session
  return { thread, incomplete: isIncomplete(problems), [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() }
}

async function inThisProcess(cli: Cli, options: ThreadOptions): Promise<OpenedThread> {
  const [opened, log] = await Promise.all([openRuntime(cli), openLog(cli)])
  const onEvent = (event: ThreadEvent): void => {
    logEvent(log, event)
    options.onEvent?.(event)
  }
  const keys = opened.reeve.servers.map(({ key }) => key)
  try {
    const thread = await opened.reeve.startThread(
      { ...options, ...(opened.reeve.auth && { auth: opened.reeve.auth }), onEvent },
      cli.signal,
    )
    return { thread, incomplete: opened.incomplete, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
  } catch (error) {
    await opened[Symbol.asyncDispose]()
    throw withClosestName(error, keys)
  }
}

/**
 * The same for verbs that ask one server, or all: they are up (or failed) when `use` runs.
 * @throws the startup error of the one server that was named
 */
export function withServers(
  cli: Cli,
  selector: ServerSelector | undefined,
  use: (thread: ToolThread) => Promise<number>,
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
