import { setTimeout as pause } from 'node:timers/promises'
import { ClosedError, EnvironmentError, type ReeveError } from '../../errors.js'
import { EXEC_LIMITS, EXEC_METHODS, type ExecEnvironmentInfo } from '../../protocol/index.js'
import type { EnvironmentState } from '../environment.js'
import { environmentInfoOf, textOf } from './answers.js'
import { handshakeFault, type Link, type LinkOptions, openLink } from './link.js'

export interface MonitorOptions extends Omit<LinkOptions, 'resume' | 'signal' | 'onevent' | 'largest'> {
  readonly recoveryMs: number
  /** What a use of the environment waits while it recovers. */
  readonly recoveringWaitMs: number
  /** Between two questions whether it still answers. */
  readonly healthMs: number
}

/** Keeps one connection to the executor that carries nothing else, so that its state is known and told. */
export class ExecutorMonitor {
  readonly #options: MonitorOptions
  readonly #listeners = new Set<(state: EnvironmentState) => void>()
  readonly #abort = new AbortController()
  #state: EnvironmentState = { is: 'idle' }
  #link: Link | undefined
  /** The attempt under way, first or again. */
  #attempt: Promise<ExecEnvironmentInfo> | undefined
  #health: NodeJS.Timeout | undefined

  constructor(options: MonitorOptions) {
    this.#options = options
  }

  get state(): EnvironmentState {
    return this.#state
  }

  /** Tells every later state. Returns what ends that. */
  onstate(listener: (state: EnvironmentState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * What the executor says of itself, connecting when needed. After a failure each call tries anew, once for all that
   * ask meanwhile. Raises `EnvironmentError`, `ClosedError`.
   */
  async info(): Promise<ExecEnvironmentInfo> {
    if (this.#state.is === 'ready') return this.#state.info
    if (this.#state.is === 'closed') throw this.#closed()
    if (this.#state.is === 'recovering') return this.#recovered()
    this.#attempt ??= this.#first().finally(() => {
      this.#attempt = undefined
    })
    return this.#attempt
  }

  /** `ready`, or what else it says. Bounded by 10 s. */
  async status(): Promise<string> {
    await this.info()
    const { connector } = this.#options
    if (this.#link === undefined) throw this.#recovering()
    const answer = await this.#link.call(EXEC_METHODS.environmentStatus, {}, { timeoutMs: EXEC_LIMITS.statusMs })
    return textOf(answer, 'status', connector.place)
  }

  async close(): Promise<void> {
    if (this.#state.is === 'closed') return
    this.#tell({ is: 'closed' })
    this.#abort.abort()
    clearTimeout(this.#health)
    await this.#link?.close()
    this.#listeners.clear()
  }

  async #first(): Promise<ExecEnvironmentInfo> {
    this.#tell({ is: 'connecting', since: Date.now() })
    try {
      return await this.#connect()
    } catch (error) {
      const fault = this.#fault(error)
      this.#tell({ is: 'failed', since: Date.now(), error: fault })
      throw fault
    }
  }

  async #connect(): Promise<ExecEnvironmentInfo> {
    const link = await openLink({ ...this.#options, signal: this.#abort.signal })
    try {
      const info = link.info ?? (await this.#ask(link))
      if (this.#state.is === 'closed') throw this.#closed()
      this.#link = link
      this.#tell({ is: 'ready', since: Date.now(), info })
      this.#watch(link)
      return info
    } catch (error) {
      link.drop()
      throw error
    }
  }

  async #ask(link: Link): Promise<ExecEnvironmentInfo> {
    const answer = await link.call(EXEC_METHODS.environmentInfo, {}, { timeoutMs: EXEC_LIMITS.infoMs })
    return environmentInfoOf(answer, this.#options.connector.place)
  }

  #watch(link: Link): void {
    void link.lost.then((error) => {
      clearTimeout(this.#health)
      this.#link = undefined
      if (this.#state.is !== 'ready') return
      // A command is started again by the next use, not over and over by itself.
      if (!this.#options.connector.resumable) this.#tell({ is: 'failed', since: Date.now(), error: this.#fault(error) })
      else this.#startRecovery(this.#fault(error))
    })
    this.#askLater(link)
  }

  /** The executor never notices a dead peer, and nor does TCP for a long time: we ask. */
  #askLater(link: Link): void {
    this.#health = setTimeout(() => {
      link.call(EXEC_METHODS.environmentStatus, {}, { timeoutMs: EXEC_LIMITS.statusMs }).then(
        () => link.open && this.#askLater(link),
        (error: ReeveError) => link.drop(error),
      )
    }, this.#options.healthMs)
    this.#health.unref()
  }

  #startRecovery(error: ReeveError): void {
    this.#tell({ is: 'recovering', since: Date.now(), error })
    const attempt = this.#reconnect()
    this.#attempt = attempt
    // The state tells it; whoever waits gets it too.
    attempt
      .catch(() => {})
      .finally(() => {
        if (this.#attempt === attempt) this.#attempt = undefined
      })
  }

  async #reconnect(): Promise<ExecEnvironmentInfo> {
    const deadline = performance.now() + this.#options.recoveryMs
    for (;;) {
      await pause(EXEC_LIMITS.recoveryRetryMs, undefined, { signal: this.#abort.signal })
      try {
        return await this.#connect()
      } catch (error) {
        if (this.#abort.signal.aborted) throw this.#closed()
        const fault = this.#fault(error)
        if (fault.code !== 'environment_unreachable' || performance.now() >= deadline) {
          this.#tell({ is: 'failed', since: Date.now(), error: fault })
          throw fault
        }
      }
    }
  }

  async #recovered(): Promise<ExecEnvironmentInfo> {
    const timer = new AbortController()
    const late = pause(this.#options.recoveringWaitMs, undefined, { signal: timer.signal }).catch(() => undefined)
    const info = await Promise.race([this.#attempt, late])
    timer.abort()
    if (info === undefined) throw this.#recovering()
    return info
  }

  #recovering(): EnvironmentError {
    const { environment, connector } = this.#options
    const text = `environment '${environment}' is recovering: the connection to ${connector.place} was lost; try again soon`
    return new EnvironmentError('environment_recovering', environment, text, {
      place: connector.place,
      data: { sent: false },
    })
  }

  #fault(error: unknown): ReeveError {
    return handshakeFault(error, this.#options.environment, this.#options.connector.place)
  }

  #closed(): ClosedError {
    return new ClosedError(`environment '${this.#options.environment}'`)
  }

  #tell(state: EnvironmentState): void {
    if (this.#state.is === 'closed') return
    this.#state = Object.freeze(state)
    for (const listener of [...this.#listeners]) listener(this.#state)
  }
}
