import type { ConfigProblem } from '../../config/index.js'
import { RemoteThread } from '../../gateway/index.js'
import type { ThreadEvent, ThreadOptions, ToolThread } from '../../threads/index.js'
import type { Cli } from '../cli.js'
import { logEvent } from '../log.js'
import { oneLine } from '../printable.js'
import { withClosestName } from '../selection.js'
import { tellProblems } from '../showing/problems.js'
import { tryJoin, usesBroker } from './broker-of.js'
import { lateLog } from './late-log.js'

/** A thread that lives in the broker, and what is wrong with the configuration it has. */
export interface RemoteSession extends AsyncDisposable {
  readonly thread: ToolThread
  readonly problems: readonly ConfigProblem[]
}

/** Undefined when this command line runs servers of its own. */
export async function openRemoteSession(cli: Cli, options: ThreadOptions): Promise<RemoteSession | undefined> {
  const joined = usesBroker(cli) ? await tryJoin(cli, { mode: 'thread' }) : undefined
  if (joined === undefined) return undefined
  const { socket, problems, warnings, keys } = joined
  tellProblems(cli, problems)
  for (const warning of warnings) cli.err.warn(oneLine(warning))
  const log = lateLog(cli)
  const onEvent = (event: ThreadEvent): void => {
    logEvent(log, event)
    options.onEvent?.(event)
  }
  try {
    const thread = await RemoteThread.start(socket, { ...options, onEvent }, cli.signal)
    return {
      thread,
      problems,
      [Symbol.asyncDispose]: async () => {
        await thread.close()
        await log.written()
      },
    }
  } catch (error) {
    socket.destroy()
    throw withClosestName(error, keys)
  }
}
