import { isAbsolute } from 'node:path'
import { SandboxRefusedError } from '../../errors.js'
import type { CallerSandbox } from './caller-sandbox.js'
import { SANDBOX_LAUNCHER, SANDBOX_STATE } from './names.js'
import { OperatorOptOut } from './opt-out.js'

export interface LaunchOptions {
  /** Folders that the command may read beside what the policy allows; absolute. */
  readonly readableRoots?: readonly string[]
  /** Takes the network away where the policy allows it. */
  readonly disableNetwork?: boolean
  /** From `operatorOptOut`. Counts only where the client sent no state or no launcher. */
  readonly optOut?: OperatorOptOut | undefined
}

/** What to start: `spawn(file, args)`, without a shell. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  /** What holds the command: a launcher, or nothing since the operator said so. */
  readonly sandbox: 'codex' | 'reeve' | 'off'
}

/** Bytes of one argument, the closing zero left out; Linux refuses longer ones with E2BIG. */
const LONGEST_LINUX_ARGUMENT = 131_071

/**
 * The command line that runs `command` under the policy of the call (reference: authority, 10): the launcher, with the state
 * as one argument, as it was received. Without state or launcher it refuses; nothing falls back to running unsandboxed.
 *
 * The launcher gives the command its working directory, the state's `sandboxCwd`, and takes the variables of the process
 * that starts it: hand it only those that the command may see.
 *
 * @param command program and arguments
 * @throws SandboxRefusedError `no_state`, `no_launcher`, `state_too_large`, `invalid_command`
 * @example
 * ```ts
 * const sandbox = readSandboxRequest(line, 'stdio')
 * const { file, args } = launch(sandbox, ['ls', '-l'])
 * const child = spawn(file, args, { env: { PATH: process.env.PATH } })
 * ```
 */
export function launch(sandbox: CallerSandbox, command: readonly string[], options: LaunchOptions = {}): Launch {
  const [program, ...rest] = requireCommand(command)
  const { state } = sandbox
  const launcher = launcherOf(sandbox)
  if (state === null || launcher === undefined) {
    if (!OperatorOptOut.isGiven(options.optOut)) throw refusal(state)
    return Object.freeze({ file: program, args: Object.freeze(rest), sandbox: 'off' })
  }
  requireSize(state)
  const args = ['sandbox', '--sandbox-state-json', state, ...restrictions(options), '--', program, ...rest]
  return Object.freeze({ file: launcher.path, args: Object.freeze(args), sandbox: launcher.kind })
}

function launcherOf(sandbox: CallerSandbox): { readonly path: string; readonly kind: 'codex' | 'reeve' } | undefined {
  const { codexExecutable, reeveExecutable } = sandbox
  if (codexExecutable !== null) return { path: codexExecutable, kind: 'codex' }
  return reeveExecutable === null ? undefined : { path: reeveExecutable, kind: 'reeve' }
}

function restrictions({ readableRoots = [], disableNetwork = false }: LaunchOptions): readonly string[] {
  for (const root of readableRoots)
    if (!isAbsolute(root) || root.includes('\0'))
      throw new SandboxRefusedError('invalid_command', `the readable root ${JSON.stringify(root)} is no absolute path`)
  const roots = readableRoots.flatMap((root) => ['--sandbox-state-readable-root', root])
  return disableNetwork ? [...roots, '--sandbox-state-disable-network'] : roots
}

function requireCommand(command: readonly string[]): readonly [string, ...string[]] {
  const [program, ...rest] = command
  if (program === undefined || program === '')
    throw new SandboxRefusedError('invalid_command', 'there is no command to run')
  if (command.some((part) => part.includes('\0')))
    throw new SandboxRefusedError('invalid_command', 'a command can hold no NUL')
  return [program, ...rest]
}

function requireSize(state: string): void {
  if (process.platform !== 'linux') return
  const bytes = Buffer.byteLength(state)
  if (bytes <= LONGEST_LINUX_ARGUMENT) return
  throw new SandboxRefusedError(
    'state_too_large',
    `${SANDBOX_STATE} has ${bytes} bytes, and an argument can have ${LONGEST_LINUX_ARGUMENT}`,
    { data: { bytes, limit: LONGEST_LINUX_ARGUMENT } },
  )
}

function refusal(state: string | null): SandboxRefusedError {
  return state === null
    ? new SandboxRefusedError(
        'no_state',
        `the client sent no ${SANDBOX_STATE}: it gave no policy to run commands under`,
      )
    : new SandboxRefusedError(
        'no_launcher',
        `the client sent no ${SANDBOX_LAUNCHER}: commands can be sandboxed only by a server on stdio that runs on the client's machine`,
      )
}
