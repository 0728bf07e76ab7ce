import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { BrokerError } from '../../../errors.js'
import type { BrokerPlace } from '../place.js'
import { rotated } from '../rotation.js'
import { startFault, WAITED_FOR } from '../starter-word.js'

/** How a broker is started. */
export interface BrokerCommand {
  /** Program and arguments of a process that becomes the broker, or ends at once when there is one. */
  readonly command: readonly [string, ...string[]]
  /** Of the starting process; the broker gets a few of them, its servers get none. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What the broker's own process needs. Servers get the variables of the clients that use them. */
const BROKER_VARIABLES = [
  'HOME',
  'LANG',
  'LOGNAME',
  'NODE_EXTRA_CA_CERTS',
  'PATH',
  'REEVE_BROKER_IDLE_MS',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'TMPDIR',
  'TZ',
  'USER',
  'USERPROFILE',
]

/** Milliseconds after which somebody who said that he starts a broker is not believed any more. */
const BELIEVED_MS = 15_000

/**
 * One client's attempt to have a broker started. Of clients that come together one starts it, and the others wait for
 * it; that there is never more than one broker is made sure by the brokers themselves.
 */
export class BrokerStarter implements Disposable {
  readonly #place: BrokerPlace
  readonly #how: BrokerCommand
  #state: 'idle' | 'starting' | { readonly failed: string } = 'idle'
  #claimed = false

  constructor(place: BrokerPlace, how: BrokerCommand) {
    this.#place = place
    this.#how = how
  }

  /**
   * Starts a broker unless somebody else is about to. To be called again until one answers.
   * @throws BrokerError `broker_unreachable` when the one that was started has ended, with what it said
   */
  push(): void {
    if (typeof this.#state === 'object') throw this.#failure(this.#state.failed)
    if (this.#state === 'starting') return
    try {
      mkdirSync(this.#place.folder, { recursive: true, mode: 0o700 })
      if (!this.#claim()) return
      this.#spawn()
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new BrokerError('broker_unreachable', `no broker can be started: ${reason}`, { cause })
    }
  }

  [Symbol.dispose](): void {
    if (this.#claimed) rmSync(this.#place.starting, { force: true })
    this.#claimed = false
  }

  #claim(): boolean {
    const { starting } = this.#place
    if (this.#claimed) return true
    if (isStale(starting)) rmSync(starting, { force: true })
    try {
      writeFileSync(starting, String(process.pid), { flag: 'wx', mode: 0o600 })
      this.#claimed = true
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    return this.#claimed
  }

  /**
   * The broker outlives its starter and its terminal. It is no child of ours for longer than a moment either: whoever
   * ends this process with all its children must not end it.
   */
  #spawn(): void {
    const { command, env } = this.#how
    const log = openSync(rotated(this.#place.log), 'a', 0o600)
    const [program, ...args] = process.platform === 'win32' ? command : ['/bin/sh', '-c', '"$@" &', 'sh', ...command]
    const child = spawn(program, args, {
      cwd: this.#place.folder,
      env: { ...brokerVariables(env), [WAITED_FOR]: '1' },
      stdio: ['ignore', log, log, 'pipe'],
      detached: true,
      windowsHide: true,
    })
    closeSync(log)
    this.#state = 'starting'
    child.once('error', (error) => this.#ended(error.message))
    child.unref()
    this.#watch(child.stdio[3] as Readable)
  }

  /** The pipe ends when the broker has said how it went, or without a word when it failed. */
  #watch(word: Readable): void {
    let said = ''
    word.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    word.once('error', (error) => this.#ended(error.message))
    word.once('close', () => this.#ended(said === '' ? lastLine(this.#place.log) : startFault(said)))
  }

  /** Undefined: it came up, or found that another one is there. */
  #ended(fault: string | undefined): void {
    if (this.#state === 'starting') this.#state = fault === undefined ? 'idle' : { failed: fault }
  }

  #failure(reason: string): BrokerError {
    const { log } = this.#place
    return new BrokerError('broker_unreachable', `the broker did not start: ${reason}`, { place: log })
  }
}

function brokerVariables(env: BrokerCommand['env']): Record<string, string> {
  return Object.fromEntries(
    BROKER_VARIABLES.flatMap((name) => {
      const value = env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Whoever wrote the file has died, or was too long about it. */
function isStale(file: string): boolean {
  try {
    if (Date.now() - statSync(file).mtimeMs > BELIEVED_MS) return true
    const pid = Number(readFileSync(file, 'utf8'))
    // Between its making and its writing the file is empty.
    return Number.isSafeInteger(pid) && pid > 0 && !isRunning(pid)
  } catch {
    return false
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

function lastLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)?.slice(0, 500) ?? ''
  } catch {
    return 'it said nothing'
  }
}
