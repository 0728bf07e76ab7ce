import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Environment, inheritedVariables } from '../../../environments/index.js'
import { boundedRun, type Ran } from './bounded-run.js'
import type { Fault } from './finding.js'

export interface ProbeOptions {
  /** The host: what is started there ends with everything that it started. */
  readonly host: Pick<Environment, 'spawn'>
  /** Variables of this process; the program gets the usual ones, and `CODEX_HOME`. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Milliseconds for each of the two runs; 10,000. */
  readonly timeoutMs?: number
}

const OPTION = '--sandbox-state-json'

/**
 * Whether a program is a launcher: its help of `sandbox` has the option, and a command runs under a read-only state and can
 * write nothing. Undefined: it is one. A program that says more than it does is found out by the file that must not be
 * there, and by the word that only the command knows.
 */
export async function launcherFault(path: string, options: ProbeOptions): Promise<Fault | undefined> {
  if (process.platform === 'win32')
    return { fault: 'unsupported_system', reason: 'launchers are not tried out on Windows, so none is used' }
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'reeve-launcher-')))
  try {
    const run = (...args: string[]) =>
      boundedRun(options.host, {
        program: path,
        args,
        env: variablesFor(options.variables),
        cwd: folder,
        timeoutMs: options.timeoutMs ?? 10_000,
      })
    return helpFault(await run('sandbox', '--help')) ?? (await commandFault(run, folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function helpFault(help: Ran | Fault): Fault | undefined {
  if ('fault' in help) return help
  if (help.code === 0 && help.stdout.split(/[\s=,]+/).includes(OPTION)) return undefined
  return { fault: 'lacks_option', reason: `its help of \`sandbox\` does not list ${OPTION}: it is no full Codex CLI` }
}

/** Writes nothing when it is held, and prints the word in any case. */
const COMMAND = '(: > "$1") 2>/dev/null; printf %s "$2"'

async function commandFault(
  run: (...args: string[]) => Promise<Ran | Fault>,
  folder: string,
): Promise<Fault | undefined> {
  const word = randomBytes(16).toString('hex')
  const command = ['/bin/sh', '-c', COMMAND, 'sh', join(folder, 'written'), word]
  const ran = await run('sandbox', OPTION, JSON.stringify(readOnlyState(folder)), '--', ...command)
  if ((await readdir(folder)).length > 0)
    return { fault: 'does_not_sandbox', reason: 'a command under a read-only state could write' }
  if ('fault' in ran) return ran
  if (ran.code === 0 && ran.stdout === word) return undefined
  const words = ran.lastWords === '' ? '' : `: ${ran.lastWords.slice(0, 300)}`
  return { fault: 'command_failed', reason: `a command under a read-only state failed (exit code ${ran.code})${words}` }
}

function readOnlyState(folder: string): object {
  const root = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' }
  return {
    permissionProfile: {
      type: 'managed',
      file_system: { type: 'restricted', entries: [root] },
      network: 'restricted',
    },
    codexLinuxSandboxExe: null,
    sandboxCwd: pathToFileURL(folder).href,
    useLegacyLandlock: false,
    useMxc: false,
  }
}

function variablesFor(variables: ProbeOptions['variables']): Record<string, string> {
  const names = [...inheritedVariables(process.platform), 'CODEX_HOME']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
