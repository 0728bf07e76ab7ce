import { join } from 'node:path'
import { runSandboxed } from '../../sandbox/index.js'
import type { Cli } from '../cli.js'
import { UsageError } from '../usage.js'

export interface SandboxVerbOptions {
  readonly sandboxStateJson?: string
  readonly sandboxStateReadableRoot?: readonly string[]
  readonly sandboxStateDisableNetwork?: boolean
  /** Of `codex sandbox`, where they stand for a state; refused by name. */
  readonly permissionProfile?: string
  readonly cd?: string
}

/**
 * Runs a command under a state and gives its exit status; its streams are this process's own.
 *
 * @throws UsageError, SandboxCommandError when nothing was run
 */
export async function run(cli: Cli, command: readonly string[], options: SandboxVerbOptions): Promise<number> {
  const { sandboxStateJson: state, sandboxStateReadableRoot: readableRoots, permissionProfile, cd } = options
  if (state === undefined) {
    throw new UsageError('the following required arguments were not provided: --sandbox-state-json <JSON>')
  }
  if (permissionProfile !== undefined) throw conflict('--permission-profile <NAME>')
  if (cd !== undefined) throw conflict('--cd <DIR>')
  if (cli.signal.aborted) return 1
  return runSandboxed(
    {
      state,
      command,
      ...(readableRoots !== undefined && { readableRoots }),
      disableNetwork: options.sandboxStateDisableNetwork ?? false,
      // Who has the broker's key may have it call any server, as the user.
      hidden: [join(cli.home, 'run')],
    },
    { env: cli.env, stdio: ['inherit', 'inherit', 'inherit'], onSignal: cli.passSignalsOn },
  )
}

function conflict(option: string): UsageError {
  return new UsageError(`the argument '--sandbox-state-json <JSON>' cannot be used with '${option}'`)
}
