import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import spawn from 'cross-spawn'
import { ProcessFailedError } from '../errors.js'
import type { SpawnRequest } from './environment.js'

export type StartedChild = ChildProcess & { readonly pid: number }

/** Why a program did not start; finding out takes a moment. */
export interface NotStarted {
  readonly fault: Promise<ProcessFailedError>
}

/**
 * Starts a program as leader of a session and group of its own (POSIX), with no descriptors but the three pipes.
 * Synchronous, so that a pid can be noted in the very turn in which it came into being.
 */
export function startChild(
  program: string,
  { args, env, label }: SpawnRequest,
  cwd: string,
  platform: NodeJS.Platform,
): StartedChild | NotStarted {
  const fault = async (error: unknown) =>
    startFailure(label, program, cwd, codeOf(error), await explain(error, program, cwd))
  try {
    const child = spawn(program, [...args], {
      cwd,
      env: { ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // On Windows this would open a console window instead.
      detached: platform !== 'win32',
      windowsHide: true,
    })
    return hasPid(child) ? child : { fault: once(child, 'error').then(([error]) => fault(error)) }
  } catch (error) {
    // Some causes are raised at once (ENOTDIR, E2BIG, a NUL character), others come as an event.
    return { fault: fault(error) }
  }
}

function hasPid(child: ChildProcess): child is StartedChild {
  return child.pid !== undefined
}

/** The system says ENOENT for a missing program, a missing interpreter and a missing cwd alike. */
async function explain(error: unknown, program: string, cwd: string): Promise<string> {
  const code = codeOf(error)
  const folder = await stat(cwd).catch((error: unknown) => codeOf(error) ?? 'unknown')
  if (folder === 'ENOENT') return 'the working directory does not exist'
  if (typeof folder === 'string') return `the working directory cannot be reached (${folder})`
  if (!folder.isDirectory()) return 'the working directory is not a directory'
  if (!(await access(cwd, constants.X_OK).then(yes, no))) return 'the working directory may not be entered'
  if (code === 'ENOENT' && isAbsolute(program) && (await stat(program).then(yes, no)))
    return 'the program exists, but the interpreter in its first line does not'
  return (code === undefined ? undefined : REASONS[code]) ?? (error instanceof Error ? error.message : String(error))
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such program; check the spelling, and the PATH that the server gets',
  EACCES: 'the program may not be executed; check its permissions',
  ENOEXEC: 'the program is not in an executable format; a script needs a first line like #!/bin/sh',
  E2BIG: 'arguments and environment are too long together',
  EMFILE: 'this process has too many open files',
  ENFILE: 'the system has too many open files',
  EAGAIN: 'the system allows no more processes',
  ENOMEM: 'the system is out of memory',
  ERR_INVALID_ARG_VALUE: 'program, arguments, environment and cwd may not hold a NUL character',
}

/** Without the system's error as cause: that one carries all arguments, which may hold secrets. */
function startFailure(label: string, program: string, cwd: string, code: string | undefined, reason: string) {
  return new ProcessFailedError(`cannot start '${program}' for ${label} in ${cwd}: ${reason}`, {
    place: program,
    data: { program, cwd, ...(code !== undefined && { errno: code }) },
  })
}

const yes = () => true
const no = () => false

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
