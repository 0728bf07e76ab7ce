import {
  EnvironmentError,
  OperationTimeoutError,
  ProcessFailedError,
  ProtocolViolationError,
  ReeveError,
  RpcError,
  TransportClosedError,
} from '../../errors.js'
import { EXEC_LIMITS, EXEC_METHODS, type ExecStartParams } from '../../protocol/index.js'
import type { EnvironmentProcess, ProcessExit } from '../environment.js'
import { memberOf, textOf } from './answers.js'
import { processEventOf, replayed } from './events.js'
import type { Link } from './link.js'
import { EventSequence, type ProcessEvent } from './sequence.js'
import { Session, type SessionOptions } from './session.js'
import { RemoteStdin } from './stdin.js'

/** Milliseconds. */
export interface RemoteProcessTimes {
  /** For the answer to `process/start`. */
  readonly startMs: number
  /** For the executor to take a piece of stdin: a child that does not read must not hold us for ever. */
  readonly writeMs: number
  /** What a new write waits for a connection that is being taken up again. */
  readonly recoveringWaitMs: number
  /** Between interrupt and KILL. */
  readonly graceMs: number
  /** For each step after that. */
  readonly killWaitMs: number
  /** How long a hole in the sequence may last before we ask for what is missing. */
  readonly gapMs: number
}

export const REMOTE_PROCESS_TIMES: RemoteProcessTimes = {
  startMs: 30_000,
  writeMs: 30_000,
  recoveringWaitMs: 10_000,
  graceMs: 2000,
  killWaitMs: 5000,
  gapMs: 5000,
}

export interface RemoteProcessOptions {
  readonly session: Omit<SessionOptions, 'onevent' | 'onresumed'>
  readonly start: ExecStartParams
  readonly label: string
  readonly times: RemoteProcessTimes
  readonly signal?: AbortSignal
}

/** A process on an executor, in a session of its own: one that blocks its connection blocks nobody else. */
export class RemoteProcess implements EnvironmentProcess {
  readonly pid = undefined
  onstdout: ((chunk: Buffer) => void) | undefined
  onstderr: ((chunk: Buffer) => void) | undefined
  readonly exited: Promise<ProcessExit>
  readonly #options: RemoteProcessOptions
  readonly #place: string
  readonly #id: string
  readonly #session: Session
  readonly #sequence: EventSequence
  readonly #stdin: RemoteStdin
  #report: (exit: ProcessExit) => void = () => {}
  #exit: ProcessExit | undefined
  #code: number | null = null
  /** Until the caller has set its callbacks. */
  #held: ProcessEvent[] | undefined = []
  #gapTimer: NodeJS.Timeout | undefined
  #leftoverTimer: NodeJS.Timeout | undefined
  #terminating: Promise<ProcessExit> | undefined
  #released: Promise<void> | undefined

  constructor(options: RemoteProcessOptions) {
    this.#options = options
    this.#place = options.session.connector.place
    this.#id = options.start.processId
    this.#sequence = new EventSequence(`'${options.label}'`)
    this.#session = new Session({
      ...options.session,
      onevent: (method, params) => this.#event(method, params),
      onresumed: (link) => this.#replay(link),
    })
    this.#stdin = new RemoteStdin({
      session: this.#session,
      processId: this.#id,
      place: this.#place,
      label: options.label,
      writeMs: options.times.writeMs,
      recoveringWaitMs: options.times.recoveringWaitMs,
      onstuck: (error) => {
        this.#session.drop(error)
        this.#fail(error, true)
      },
    })
    this.exited = new Promise((resolve) => {
      this.#report = resolve
    })
    void this.#session.ended.then((failure) => this.#settle({ code: this.#code, signal: null, failure }))
  }

  /** Resolves when nothing of it is left on this side. */
  get released(): Promise<void> {
    return this.exited.then(() => this.#released)
  }

  write(data: string | Buffer): Promise<void> {
    return this.#stdin.write(typeof data === 'string' ? Buffer.from(data, 'utf8') : data)
  }

  /** Stdin of an executor's child cannot end; interrupt is its word for it (reference: executor-protocol, 15). */
  closeStdin(): void {
    if (this.#stdin.close()) void this.#interrupt()
  }

  terminate(): Promise<ProcessExit> {
    this.#terminating ??= this.#terminate()
    return this.#terminating
  }

  /**
   * Once, before anything else. Raises `ProcessFailedError`, `EnvironmentError`, `CancelledError`, `OperationTimeoutError`,
   * `ProtocolViolationError`; nothing is left of it then once `released` resolves.
   */
  async start(): Promise<void> {
    const { start, signal, times } = this.#options
    const link = await this.#open()
    try {
      const options = { timeoutMs: times.startMs, ...(signal && { signal }) }
      const answer = await link.call(EXEC_METHODS.processStart, start, options)
      if (textOf(answer, 'processId', this.#place) !== this.#id)
        throw new ProtocolViolationError(`${this.#place} started another process than the one asked for`)
    } catch (error) {
      // Whether it runs is unknown unless the executor said no, so it is ended either way.
      this.#fail(
        error instanceof ReeveError ? error : new ProcessFailedError(String(error)),
        !(error instanceof RpcError),
      )
      throw this.#startFault(error)
    }
    // A turn of the event loop later the caller of `spawn` has its callbacks in place.
    setImmediate(() => this.#deliverHeld())
  }

  /** Asks whether the connection still answers, and drops it when it does not. */
  async probe(): Promise<void> {
    try {
      const link = await this.#session.link(0)
      await link.call(EXEC_METHODS.environmentStatus, {}, { timeoutMs: EXEC_LIMITS.statusMs })
    } catch (error) {
      // Anything else is an answer, or a loss that is being dealt with.
      if (error instanceof OperationTimeoutError) this.#session.drop(error)
    }
  }

  async #open(): Promise<Link> {
    try {
      return await this.#session.open(this.#options.signal)
    } catch (error) {
      this.#settle({ code: null, signal: null })
      throw error
    }
  }

  #startFault(error: unknown): unknown {
    const { environment } = this.#options.session
    if (error instanceof TransportClosedError) {
      const text = `environment '${environment}': the connection was lost while ${this.#options.label} was being started`
      return new EnvironmentError('environment_lost', environment, text, { place: this.#place, cause: error })
    }
    if (!(error instanceof RpcError)) return error
    const { argv, cwd } = this.#options.start
    const kind = memberOf(error.rpcData, 'kind')
    const why =
      kind === 'spawnNotFound'
        ? `there is no program '${argv[0]}' or no folder ${cwd}`
        : kind === 'spawnPermissionDenied'
          ? `'${argv[0]}' may not be run`
          : error.message
    const text = `environment '${environment}' cannot start ${this.#options.label}: ${why}`
    return new ProcessFailedError(text, {
      place: this.#place,
      cause: error,
      data: { environment, ...(typeof kind === 'string' && { kind }) },
    })
  }

  #event(method: string, params: unknown): void {
    if (this.#exit !== undefined) return
    this.#guarded(() => {
      const event = processEventOf(method, params, this.#id, this.#place)
      if (event !== undefined) this.#deliver(this.#sequence.accept(event))
    })
  }

  /** A lie about one process ends that process; its connection is still good for ending it there. */
  #guarded(step: () => void): void {
    try {
      step()
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error
      this.#fail(error, true)
    }
  }

  #deliver(events: readonly ProcessEvent[]): void {
    this.#watchGap()
    if (this.#held !== undefined) this.#held.push(...events)
    else for (const event of events) this.#handle(event)
  }

  #deliverHeld(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const event of held) this.#handle(event)
  }

  #handle(event: ProcessEvent): void {
    switch (event.kind) {
      case 'output':
        if (event.stream === 'stderr') this.onstderr?.(event.bytes)
        else this.onstdout?.(event.bytes)
        break
      case 'exited':
        this.#code = event.code
        // What it left behind may hold the pipes open for ever; it ends with its server, as on the host.
        this.#leftoverTimer = setTimeout(() => void this.terminate(), this.#options.times.graceMs)
        break
      case 'closed':
        this.#settle({ code: this.#code, signal: null })
        break
    }
  }

  #watchGap(): void {
    if (!this.#sequence.hasGap) {
      clearTimeout(this.#gapTimer)
      this.#gapTimer = undefined
    } else this.#gapTimer ??= setTimeout(() => void this.#fillGap(), this.#options.times.gapMs)
  }

  async #fillGap(): Promise<void> {
    this.#gapTimer = undefined
    try {
      const link = await this.#session.link(this.#options.times.gapMs)
      if (this.#sequence.hasGap) await this.#replay(link)
    } catch (error) {
      if (error instanceof OperationTimeoutError || error instanceof RpcError) this.#fail(error, true)
      // A lost connection has its own replay ahead; a lie is dealt with by the replay.
      else this.#watchGap()
    }
  }

  async #replay(link: Link): Promise<void> {
    if (this.#exit !== undefined) return
    this.#sequence.replaying = true
    try {
      const params = { processId: this.#id, afterSeq: this.#sequence.last, waitMs: 0 }
      const answer = await link.call(EXEC_METHODS.processRead, params, { timeoutMs: EXEC_LIMITS.infoMs })
      this.#guarded(() => this.#deliver(replayed(answer, this.#sequence, this.#place)))
    } finally {
      this.#sequence.replaying = false
    }
  }

  async #interrupt(): Promise<void> {
    await this.#order(
      EXEC_METHODS.processSignal,
      { processId: this.#id, signal: 'interrupt' },
      this.#options.times.graceMs,
    )
  }

  async #terminate(): Promise<ProcessExit> {
    const { graceMs } = this.#options.times
    if (this.#code === null) {
      this.closeStdin()
      await this.#endedWithin(graceMs)
    }
    await this.#kill()
    return this.exited
  }

  async #kill(): Promise<void> {
    const { killWaitMs } = this.#options.times
    if (this.#exit !== undefined) return
    const told = await this.#order(EXEC_METHODS.processTerminate, { processId: this.#id }, killWaitMs)
    if (told) await this.#endedWithin(killWaitMs)
    const text = `${this.#options.label}: the executor did not confirm its end`
    const failure = new EnvironmentError('environment_lost', this.#options.session.environment, text, {
      place: this.#place,
    })
    this.#settle({ code: this.#code, signal: null, ...(this.#code === null && { failure }) })
  }

  /** Twice: a connection that does not answer is dropped, and the one that follows it is not blocked. */
  async #order(method: string, params: unknown, timeoutMs: number): Promise<boolean> {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      try {
        const link = await this.#session.link(timeoutMs)
        await link.call(method, params, { timeoutMs })
        return true
      } catch (error) {
        if (error instanceof OperationTimeoutError) this.#session.drop(error)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    return false
  }

  async #endedWithin(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([this.exited, late])
    clearTimeout(timer)
  }

  #fail(failure: ReeveError, endThere: boolean): void {
    if (this.#exit !== undefined) return
    const end = endThere
      ? this.#order(EXEC_METHODS.processTerminate, { processId: this.#id }, this.#options.times.killWaitMs)
      : Promise.resolve(false)
    this.#settle({ code: this.#code, signal: null, failure }, end)
  }

  #settle(exit: ProcessExit, before: Promise<unknown> = Promise.resolve()): void {
    if (this.#exit !== undefined) return
    this.#exit = Object.freeze(exit)
    this.#stdin.close(exit.failure)
    clearTimeout(this.#gapTimer)
    clearTimeout(this.#leftoverTimer)
    this.#released = before.then(() => this.#session.close())
    this.#report(this.#exit)
  }
}
