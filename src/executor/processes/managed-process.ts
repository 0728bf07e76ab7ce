import type { ChildProcessByStdio } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { EXEC_LIMITS } from '../../protocol/index.js'
import { ProcessGroup } from './process-group.js'
import { type OutputChunk, type OutputStream, RetainedOutput } from './retained-output.js'
import { StdinQueue } from './stdin-queue.js'

export type StartedChild = ChildProcessByStdio<Writable | null, Readable, Readable>

/** Everything that a process tells; one counter from 1 numbers all of it (reference: executor-protocol, 6.2). */
export type ProcessEvent =
  | { readonly kind: 'output'; readonly chunk: OutputChunk }
  | { readonly kind: 'exited'; readonly seq: number; readonly exitCode: number }
  | { readonly kind: 'closed'; readonly seq: number }

type Life =
  | { readonly is: 'running' }
  | { readonly is: 'exited'; readonly exitCode: number; readonly exitSeq: number }
  | { readonly is: 'closed'; readonly exitCode: number; readonly exitSeq: number }

export interface ReadAnswer {
  readonly chunks: readonly OutputChunk[]
  readonly nextSeq: number
  readonly exited: boolean
  readonly exitCode: number | null
  readonly closed: boolean
}

/** Output that is still in the pipes when a process ends is told before its end; a grandchild that holds them is not waited for. */
const TAIL_MS = 20
/** What holds the pipes of a killed group has left it: after this long they are let go. */
const LET_GO_MS = 200

/** One started process of a session. It goes on while nobody is attached. */
export class ManagedProcess {
  readonly group: ProcessGroup
  /** Absent when it was started without one. */
  readonly stdin: StdinQueue | undefined
  /** Resolves when the process was collected and both of its pipes are at their end. */
  readonly closed: Promise<void>
  readonly #child: StartedChild
  readonly #tell: (event: ProcessEvent) => void
  readonly #retained = new RetainedOutput()
  readonly #watchers = new Set<() => void>()
  #life: Life = { is: 'running' }
  #nextSeq = 1
  #open = 2
  #terminated = false

  constructor(child: StartedChild, pid: number, tell: (event: ProcessEvent) => void) {
    this.#child = child
    this.#tell = tell
    this.group = new ProcessGroup(pid)
    this.stdin = child.stdin === null ? undefined : new StdinQueue(child.stdin)
    let close = () => {}
    this.closed = new Promise((resolve) => {
      close = resolve
    })
    this.#watchStream(child.stdout, 'stdout')
    this.#watchStream(child.stderr, 'stderr')
    child.once('exit', (code, signal) => this.#collected(exitCodeOf(code, signal)))
    child.once('close', () => {
      this.#close()
      close()
    })
  }

  get isRunning(): boolean {
    return this.#life.is === 'running'
  }

  /** Stops reading the pipes, so that the child blocks; for a client that does not keep up. */
  pause(): void {
    this.#child.stdout.pause()
    this.#child.stderr.pause()
  }
  resume(): void {
    this.#child.stdout.resume()
    this.#child.stderr.resume()
  }

  /** SIGKILL to the whole tree. True when the process itself was running. */
  terminate(): boolean {
    const ran = this.isRunning && !this.#terminated
    this.#terminated = true
    this.group.killTree()
    this.resume()
    if (this.#life.is === 'exited') this.#letGo()
    return ran
  }

  read(afterSeq: number, maxBytes?: number): ReadAnswer {
    const { chunks, cut } = this.#retained.after(afterSeq, maxBytes)
    const last = chunks.at(-1)
    return {
      chunks,
      nextSeq: cut && last !== undefined ? last.seq + 1 : this.#nextSeq,
      exited: this.#life.is !== 'running',
      exitCode: this.#life.is === 'running' ? null : this.#life.exitCode,
      closed: this.#life.is === 'closed',
    }
  }

  /** Resolves when `read(afterSeq)` has something to tell, after `waitMs`, or when the signal fires. */
  news(afterSeq: number, waitMs: number, signal: AbortSignal): Promise<void> {
    if (waitMs === 0 || this.#hasNews(afterSeq) || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const look = () => {
        if (this.#hasNews(afterSeq)) end()
      }
      const end = () => {
        clearTimeout(timer)
        this.#watchers.delete(look)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, Math.min(waitMs, LONGEST_TIMER_MS))
      this.#watchers.add(look)
      signal.addEventListener('abort', end)
    })
  }

  #hasNews(afterSeq: number): boolean {
    if (this.#life.is === 'closed' || this.#retained.has(afterSeq)) return true
    return this.#life.is === 'exited' && this.#life.exitSeq > afterSeq
  }

  #watchStream(stream: Readable, name: OutputStream): void {
    stream.on('data', (bytes: Buffer) => {
      for (let at = 0; at < bytes.length; at += EXEC_LIMITS.outputChunk) {
        const chunk = { seq: this.#take(), stream: name, bytes: bytes.subarray(at, at + EXEC_LIMITS.outputChunk) }
        this.#retained.add(chunk)
        this.#emit({ kind: 'output', chunk })
      }
    })
    // A pipe that breaks is at its end; `close` follows.
    stream.on('error', () => {})
    stream.once('close', () => {
      this.#open -= 1
    })
  }

  #collected(exitCode: number): void {
    this.group.leaderCollected()
    this.stdin?.end()
    const told = () => {
      clearTimeout(timer)
      this.#exit(exitCode)
    }
    const timer = setTimeout(told, TAIL_MS)
    // Registered before the listener that closes, so that the exit always comes first.
    this.#child.prependOnceListener('close', told)
    if (this.#open === 0) told()
    if (this.#terminated) this.#letGo()
  }

  #exit(exitCode: number): void {
    if (this.#life.is !== 'running') return
    const seq = this.#take()
    this.#life = { is: 'exited', exitCode, exitSeq: seq }
    this.#emit({ kind: 'exited', seq, exitCode })
  }

  #close(): void {
    if (this.#life.is !== 'exited') return
    const seq = this.#take()
    this.#life = { ...this.#life, is: 'closed' }
    this.#emit({ kind: 'closed', seq })
  }

  #letGo(): void {
    setTimeout(() => {
      this.#child.stdout.destroy()
      this.#child.stderr.destroy()
    }, LET_GO_MS).unref()
  }

  #take(): number {
    const seq = this.#nextSeq
    this.#nextSeq += 1
    return seq
  }

  #emit(event: ProcessEvent): void {
    this.#tell(event)
    for (const look of [...this.#watchers]) look()
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  if (code !== null) return code
  return 128 + (signal === null ? 0 : constants.signals[signal])
}
