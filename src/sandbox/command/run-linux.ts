import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { SandboxCommandError } from '../../errors.js'
import { bwrapArguments, FD, type Files, refuseSystemFolders } from './bwrap-arguments.js'
import { ended, type SandboxWorld, signalGroup, signalProcess, startChild } from './child.js'
import { findBwrap } from './find-bwrap.js'
import { makePlaceholders, type Placeholders } from './placeholders.js'
import type { Plan, Rule } from './plan.js'
import { openRegistry } from './registry.js'
import { seccompProgram } from './seccomp.js'
import { endsPrograms, statusOf } from './signals.js'
import { isWithin } from './within.js'

/** A command, and what it may do. Without a plan files are not restricted. */
export interface Confined {
  readonly command: readonly string[]
  readonly cwd: string
  readonly network: boolean
  readonly plan?: Plan
}

/**
 * Runs a command in bubblewrap: its own view of the files, processes, and, without network, no way to a socket.
 *
 * @returns the exit status of the command
 * @throws SandboxCommandError before anything was run
 */
export async function runInBwrap(confined: Confined, world: SandboxWorld): Promise<number> {
  const { network, cwd, plan, command } = confined
  const bwrap = await findBwrap()
  const filter = seccompProgram(network)
  await using ready = await prepare(plan)
  const args = bwrapArguments({ cwd, network, files: ready.files })
  const child = await startChild({
    file: bwrap,
    args: ['--args', String(FD.arguments), '--', ...command],
    cwd: '/',
    env: world.env,
    stdio: [...world.stdio, 'pipe', 'pipe', 'pipe'],
  })
  const status = new BwrapStatus(readable(child, FD.status))
  let endedBy: NodeJS.Signals | undefined
  const stop = world.onSignal(async (signal) => {
    if ((await passOn(signal, status)) || !endsPrograms(signal)) return
    // There is no command yet that could end as it likes.
    endedBy ??= signal
    child.kill('SIGKILL')
  })
  try {
    feed(writable(child, FD.arguments), Buffer.from(args.map((arg) => `${arg}\0`).join('')))
    feed(writable(child, FD.seccomp), filter)
    const code = await ended(child)
    await status.closed
    if (status.exitCode === undefined && endedBy !== undefined) return statusOf(endedBy)
    if (status.exitCode === undefined && child.exitCode !== null) throw notStarted(code)
    return code
  } finally {
    stop()
    signalGroup(child.pid, 'SIGKILL')
  }
}

interface Ready extends AsyncDisposable {
  readonly files: Files
}

/** Puts in place what the mounts need on disk, for as long as they are there. */
async function prepare(plan: Plan | undefined): Promise<Ready> {
  if (plan === undefined) return { files: { kind: 'all' }, async [Symbol.asyncDispose]() {} }
  const { base, links, rules } = plan
  refuseSystemFolders(rules)
  const held = rules.filter((rule) => isHeld(rule, plan)).map(({ path }) => path)
  if (held.length === 0 && !rules.some((rule) => rule.kind === 'deny' && !rule.isFolder)) {
    return { files: { kind: 'planned', base, links, rules, deniedFile: NONE }, async [Symbol.asyncDispose]() {} }
  }
  const registry = await openRegistry()
  const placeholders = await makePlaceholders(registry, held)
  const sealed: readonly Rule[] = isWritable(registry.folder, plan)
    ? [{ kind: 'read', path: registry.folder, isFolder: true }]
    : []
  return {
    files: {
      kind: 'planned',
      base,
      links,
      deniedFile: registry.deniedFile,
      rules: [...rules.flatMap((rule) => asFound(rule, placeholders)), ...sealed],
    },
    [Symbol.asyncDispose]: () => placeholders[Symbol.asyncDispose](),
  }
}

/** No file is denied. */
const NONE = '/dev/null'

/** A placeholder, or one of another sandbox, which looks like any folder. */
function isHeld(rule: Rule, plan: Plan): boolean {
  if (rule.kind === 'absent') return true
  return rule.kind !== 'write' && rule.isFolder && isWritable(dirname(rule.path), plan)
}

function asFound(rule: Rule, { found }: Placeholders): readonly Rule[] {
  const { path } = rule
  switch (found.get(path)) {
    case undefined:
      return [rule]
    case 'placeholder':
      return [{ kind: 'absent', path }]
    case 'real':
      return [rule]
    case 'nothing':
      return []
  }
}

function isWritable(path: string, { base, rules }: Plan): boolean {
  return (rules.filter((rule) => isWithin(path, rule.path)).at(-1)?.kind ?? base) === 'write'
}

/** What bubblewrap tells of its child: a JSON object a line. */
class BwrapStatus {
  readonly closed: Promise<void>
  #text = ''

  constructor(stream: Readable) {
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => {
      this.#text += chunk
    })
    stream.on('error', () => {})
    this.closed = new Promise((resolve) => stream.once('close', resolve))
  }

  /** The first process of the sandbox, as this system numbers it. */
  get init(): number | undefined {
    return this.#number('child-pid')
  }

  /** Undefined: the command was never started. */
  get exitCode(): number | undefined {
    return this.#number('exit-code')
  }

  #number(name: string): number | undefined {
    const value = new RegExp(`"${name}"\\s*:\\s*(\\d+)`).exec(this.#text)?.[1]
    return value === undefined ? undefined : Number(value)
  }
}

/** Tells the command and its group; false when there is no command yet. */
async function passOn(signal: NodeJS.Signals, { init }: BwrapStatus): Promise<boolean> {
  const command = init === undefined ? undefined : await firstChildOf(init)
  if (command === undefined || init === undefined) return false
  // The first process of a sandbox is deaf to all that would end it, so that its group can be told.
  if (command.group === init) signalGroup(init, signal)
  else signalProcess(command.pid, signal)
  return true
}

async function firstChildOf(pid: number): Promise<{ readonly pid: number; readonly group: number } | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const [first = ''] = children.split(' ')
  const stat = first === '' ? '' : await readFile(`/proc/${first}/stat`, 'utf8').catch(() => '')
  if (stat === '') return undefined
  return { pid: Number(first), group: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]) }
}

function writable({ stdio }: ChildProcess, fd: number): Writable {
  const stream: unknown = Reflect.get(stdio, fd)
  if (stream instanceof Writable) return stream
  throw new SandboxCommandError('sandbox_failed', `descriptor ${fd} of the sandbox is not open`)
}

function readable({ stdio }: ChildProcess, fd: number): Readable {
  const stream: unknown = Reflect.get(stdio, fd)
  if (stream instanceof Readable) return stream
  throw new SandboxCommandError('sandbox_failed', `descriptor ${fd} of the sandbox is not open`)
}

function feed(stream: Writable, bytes: Buffer): void {
  // When it ends early, its exit says so.
  stream.on('error', () => {})
  stream.end(bytes)
}

function notStarted(code: number): SandboxCommandError {
  return new SandboxCommandError(
    'sandbox_failed',
    `the command was not started: bubblewrap ended with ${code} and said why above. ` +
      'Where it may not make namespaces: sudo sysctl kernel.unprivileged_userns_clone=1, ' +
      'or kernel.apparmor_restrict_unprivileged_userns=0',
  )
}
