import { win32 } from 'node:path'

/**
 * The program to hand to the operating system (reference: connections, 9.3).
 *
 * POSIX: unchanged; the system itself searches the child's PATH and resolves relative paths from the child's cwd.
 * Windows: searched on the child's PATH with its PATHEXT, so that `npx` finds `npx.cmd`; the working directory is no
 * part of the search. When nothing is found the program stays as it is, and starting it names the problem.
 *
 * @param env the child's whole environment
 * @param cwd absolute directory that the child starts in
 * @param exists whether a regular file stands at an absolute path
 */
export async function resolveProgram(
  platform: NodeJS.Platform,
  program: string,
  env: Readonly<Record<string, string>>,
  cwd: string,
  exists: (path: string) => Promise<boolean>,
): Promise<string> {
  if (platform !== 'win32') return program
  for (const candidate of windowsCandidates(program, env, cwd)) {
    if (await exists(candidate)) return candidate
  }
  return program
}

function* windowsCandidates(program: string, env: Readonly<Record<string, string>>, cwd: string): Generator<string> {
  const extensions = (windowsVariable(env, 'PATHEXT') ?? DEFAULT_PATHEXT).split(';').filter((part) => part !== '')
  const named = extensions.some((extension) => program.toLowerCase().endsWith(extension.toLowerCase()))
  const endings = named ? ['', ...extensions] : extensions
  for (const folder of windowsFolders(program, env)) {
    for (const ending of endings) yield win32.resolve(cwd, folder, program + ending)
  }
}

/** One empty entry, the cwd itself, for a program that is a path. */
function windowsFolders(program: string, env: Readonly<Record<string, string>>): string[] {
  if (/[\\/:]/.test(program)) return ['']
  const path = windowsVariable(env, 'PATH') ?? ''
  return path
    .split(';')
    .map((entry) => entry.replace(/^"(.*)"$/, '$1'))
    .filter((entry) => entry !== '')
}

function windowsVariable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name)
  return key === undefined ? undefined : env[key]
}

const DEFAULT_PATHEXT = '.COM;.EXE;.BAT;.CMD'
