import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { SandboxCommandError } from '../../errors.js'
import { statusOf } from './signals.js'

/** What the caller's process lends to a command. */
export interface SandboxWorld {
  /** The command's environment, but for what the sandbox adds. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Standard input, output and error: this process's own, or open descriptors. */
  readonly stdio: readonly ['inherit' | 'ignore' | number, 'inherit' | number, 'inherit' | number]
  /** Registers who is told of signals to pass on, and gives what ends that. */
  readonly onSignal: (listener: (signal: NodeJS.Signals) => void) => () => void
}

export interface ChildRequest {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdio: StdioOptions
}

/** Starts a process in a session of its own, so that a terminal's signals reach it through us alone. */
export async function startChild({ file, args, cwd, env, stdio }: ChildRequest): Promise<ChildProcess> {
  const child = spawn(file, [...args], { cwd, env, stdio, detached: true })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? 'No such file or directory (os error 2)' : error.message
      reject(new SandboxCommandError('sandbox_failed', `${file}: ${reason}`, { cause: error }))
    })
  })
  return child
}

/** The exit status of a process that has ended; 128 and the signal's number when one ended it. */
export function ended(child: ChildProcess): Promise<number> {
  const status = (): number => child.exitCode ?? statusOf(child.signalCode ?? 'SIGKILL')
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(status())
  return new Promise((resolve) => child.once('exit', () => resolve(status())))
}

/** Sends a signal to a process and all that share its group; one that is gone needs none. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(-pid, signal)
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // Gone; or another user's (sudo), whom we can't tell, as no shell could.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}

/** Runs a process to its end, passes signals on to its group, and leaves nothing of the group behind. */
export async function runGroup(request: ChildRequest, onSignal: SandboxWorld['onSignal']): Promise<number> {
  const child = await startChild(request)
  const stop = onSignal((signal) => signalGroup(child.pid, signal))
  try {
    return await ended(child)
  } finally {
    stop()
    signalGroup(child.pid, 'SIGKILL')
  }
}
