import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { ProcessFailedError } from '../errors.js'
import type { EnvironmentProcess, ProcessExit } from './environment.js'
import type { LocalTree, TreeTimes } from './local-tree.js'
import type { ProcessRow } from './processes/rows.js'
import type { StartedChild } from './starting.js'

/**
 * A child of this process and its tree. When the child ends by itself, what it leaves in its group is ended too, so
 * that no grandchild survives or keeps the pipes open.
 */
export class LocalProcess implements EnvironmentProcess {
  readonly pid: number
  readonly exited: Promise<ProcessExit>
  /** Settles when the whole tree is gone, or could not be ended in time (false). */
  readonly ended: Promise<boolean>
  readonly #child: ChildProcess
  readonly #tree: LocalTree
  readonly #times: TreeTimes
  readonly #label: string
  readonly #leaderExit: Promise<ProcessExit>
  readonly #stdout: Outlet
  readonly #stderr: Outlet
  #ending: Promise<boolean> | undefined
  #termination: Promise<ProcessExit> | undefined

  constructor(child: StartedChild, tree: LocalTree, times: TreeTimes, label: string) {
    this.pid = child.pid
    this.#child = child
    this.#tree = tree
    this.#times = times
    this.#label = label
    this.#stdout = new Outlet(child.stdout)
    this.#stderr = new Outlet(child.stderr)
    // A write to a child that is gone reports through its callback; the event would end this process.
    child.stdin?.on('error', () => undefined)
    child.on('error', () => undefined)
    this.exited = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }))
    })
    this.#leaderExit = new Promise((resolve) => {
      const ended = (code: number | null, signal: string | null) => {
        tree.leaderEnded()
        this.#stdout.open()
        this.#stderr.open()
        resolve({ code, signal })
      }
      child.once('exit', ended)
      // cross-spawn swallows `exit` when cmd.exe did not find the program.
      child.once('close', ended)
    })
    this.ended = this.#leaderExit.then(() => this.#endTree())
    void this.ended.then(() => this.#closePipes())
  }

  get onstdout(): ((chunk: Buffer) => void) | undefined {
    return this.#stdout.receiver
  }
  set onstdout(receiver: ((chunk: Buffer) => void) | undefined) {
    this.#stdout.receiver = receiver
    this.#stdout.open()
  }
  get onstderr(): ((chunk: Buffer) => void) | undefined {
    return this.#stderr.receiver
  }
  set onstderr(receiver: ((chunk: Buffer) => void) | undefined) {
    this.#stderr.receiver = receiver
    this.#stderr.open()
  }

  write(data: string | Buffer): Promise<void> {
    const { stdin } = this.#child
    return new Promise((resolve, reject) => {
      if (stdin === null || !stdin.writable) return reject(this.#stdinClosed())
      // Node reports the write that was under way when the stream is destroyed as done.
      stdin.write(data, (error) => (error || stdin.destroyed ? reject(this.#stdinClosed()) : resolve()))
    })
  }

  closeStdin(): void {
    this.#child.stdin?.end()
  }

  terminate(): Promise<ProcessExit> {
    this.#termination ??= this.#terminate()
    return this.#termination
  }

  /** KILL to the whole tree, synchronously. */
  killNow(rows: readonly ProcessRow[]): void {
    this.#tree.killNow(rows)
  }

  async #terminate(): Promise<ProcessExit> {
    // Bytes that the child has not read would hold `end()` back for ever.
    if (this.#child.stdin?.writableLength) this.#child.stdin.destroy()
    else this.closeStdin()
    await this.#endTree()
    await this.#closePipes()
    const unknown: ProcessExit = { code: null, signal: null }
    return Promise.race([this.exited, this.#leaderExit, Promise.resolve(unknown)])
  }

  /** Begun once, awaited by any number of callers. */
  #endTree(): Promise<boolean> {
    this.#ending ??= this.#tree.end(this.#times, this.#leaderExit)
    return this.#ending
  }

  /** What escaped the tree may hold the pipes: they are read until they fall silent, then closed. */
  async #closePipes(): Promise<void> {
    const end = performance.now() + DRAIN_MS
    for (let before = -1; before !== this.#received && performance.now() < end; ) {
      before = this.#received
      await Promise.race([this.exited, silence()])
    }
    this.#child.stdin?.destroy()
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  get #received(): number {
    return this.#stdout.received + this.#stderr.received
  }

  #stdinClosed(): ProcessFailedError {
    return new ProcessFailedError(`${this.#label} takes no more input: its stdin is closed`)
  }
}

/** Milliseconds that the pipes of an ended child are read at most, and that count as silence. */
const DRAIN_MS = 5000
const SILENCE_MS = 200

/** After a blocked event loop a timer comes before the bytes that wait: one more turn lets them in. */
async function silence(): Promise<void> {
  await pause(SILENCE_MS, undefined, { ref: false })
  await nextTurn()
}

/** Lets a pipe flow once somebody receives it; before that the bytes wait in the system. */
class Outlet {
  receiver: ((chunk: Buffer) => void) | undefined
  received = 0
  readonly #stream: Readable | null
  #state: 'held' | 'open' = 'held'

  constructor(stream: Readable | null) {
    this.#stream = stream
    stream?.on('error', () => undefined)
  }

  open(): void {
    if (this.#state === 'open') return
    this.#state = 'open'
    this.#stream?.on('data', (chunk: Buffer) => {
      this.received += chunk.length
      this.receiver?.(chunk)
    })
  }
}
