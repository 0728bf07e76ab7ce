import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { REAPER } from './group-reaper.js'

export interface Command {
  readonly command: string
  readonly args: readonly string[]
}

export interface ProgramOptions {
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A program of the test's own, in a process group of its own, which ends with the test process at the latest. */
export interface Program extends AsyncDisposable {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  /** What stderr held so far, for error texts. */
  stderr(): string
}

export function startProgram({ command, args }: Command, { env, cwd }: ProgramOptions): Program {
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const gone = child.pid === undefined ? () => {} : REAPER.watch(child.pid)
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  child.stdin.on('error', () => {})
  const exited = once(child, 'close').then(
    () => ({ code: child.exitCode, signal: child.signalCode }),
    (error: unknown) => {
      throw new Error(`${command} did not start`, { cause: error })
    },
  )
  // A number of a group that is gone may come to be another's.
  exited.then(
    () => isGone(child.pid) && gone(),
    () => {},
  )
  return {
    child,
    exited,
    stderr: () => stderr,
    [Symbol.asyncDispose]: async () => {
      killGroup(child.pid)
      gone()
      await exited.catch(() => {})
    },
  }
}

/** Runs a program to its end with `stdin` closed. Over `timeoutMs` its whole group is killed and the promise rejects. */
export async function run(
  command: Command,
  { timeoutMs = 60_000, ...options }: ProgramOptions & { readonly timeoutMs?: number },
): Promise<Finished> {
  await using program = startProgram(command, options)
  program.child.stdin.end()
  let stdout = ''
  program.child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  let late = false
  const timer = setTimeout(() => {
    late = true
    killGroup(program.child.pid)
  }, timeoutMs)
  const exit = await program.exited.finally(() => clearTimeout(timer))
  const finished = { ...exit, stdout, stderr: program.stderr() }
  if (late) throw new Error(`no end after ${timeoutMs} ms: ${shown(command, finished)}`)
  return finished
}

/** Runs a program that must end with 0, and gives its stdout. */
export async function succeed(
  command: Command,
  options: ProgramOptions & { readonly timeoutMs?: number },
): Promise<string> {
  const finished = await run(command, options)
  if (finished.code !== 0) throw new Error(shown(command, finished))
  return finished.stdout
}

function shown({ command, args }: Command, { code, signal, stdout, stderr }: Finished): string {
  return `${[command, ...args].join(' ')}\nended with ${signal ?? code}\n--- stdout\n${stdout}\n--- stderr\n${stderr}`
}

function isGone(group: number | undefined): boolean {
  if (group === undefined) return true
  try {
    return !process.kill(-group, 0)
  } catch {
    return true
  }
}

/** The group that `startProgram` made, and nothing else; gone already is fine. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
