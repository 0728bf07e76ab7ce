import type { Environment } from '../environments/index.js'
import { environmentFault, mayReturn } from './environment-fault.js'
import type { Timer, Timers } from './timers.js'

export interface RestartPorts {
  /** The time has come, and the environment is there. */
  start(): void
  /** The time has come, and the environment is not there. */
  later(): void
}

/** What of an environment counts here. */
export type RestartPlace = Pick<Environment, 'kind' | 'state' | 'onstate' | 'info'>

/** Milliseconds from one start to the next, however often the environment says that it is back. */
const AT_LEAST = 1_000

/**
 * When a server that is down is started again: after a delay, and never while its environment is known to be away. The
 * environment is asked when the time has come, which connects it if it gave up; a server that went down with it does not
 * wait for the time once it is back (reference: known-quirks, 17).
 */
export class Restart {
  readonly #timers: Timers
  readonly #environment: RestartPlace | undefined
  readonly #ports: RestartPorts
  #timer: Timer | undefined
  #unwatch: (() => void) | undefined
  #lastStart = Number.NEGATIVE_INFINITY
  #armed: symbol | undefined

  constructor(timers: Timers, environment: RestartPlace | undefined, ports: RestartPorts) {
    this.#timers = timers
    // The host is always there.
    this.#environment = environment?.kind === 'executor' ? environment : undefined
    this.#ports = ports
  }

  get isEnvironmentReady(): boolean {
    return this.#environment === undefined || this.#environment.state.is === 'ready'
  }

  /** It is not there now, and may come back. */
  get isEnvironmentAway(): boolean {
    const state = this.#environment?.state
    if (state?.is === 'failed') return mayReturn(environmentFault(state.error))
    return state?.is === 'connecting' || state?.is === 'recovering'
  }

  /** In `ms`; with `onReturn` already when the environment is back. */
  arm(ms: number, onReturn: boolean): void {
    this.cancel()
    this.#armed = Symbol('restart')
    this.#in(ms, () => this.#due())
    if (!onReturn) return
    this.#unwatch = this.#environment?.onstate(({ is }) => {
      if (is === 'ready') this.#returned()
    })
  }

  cancel(): void {
    this.#armed = undefined
    this.#timer?.cancel()
    this.#timer = undefined
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  #due(): void {
    const armed = this.#armed
    if (this.#environment === undefined || this.isEnvironmentReady) {
      this.#start()
      return
    }
    this.#environment.info().then(
      () => this.#armed === armed && this.#returned(),
      () => this.#armed === armed && this.#ports.later(),
    )
  }

  #returned(): void {
    this.#in(Math.max(0, this.#lastStart + AT_LEAST - this.#timers.now()), () => this.#start())
  }

  #start(): void {
    this.cancel()
    this.#lastStart = this.#timers.now()
    this.#ports.start()
  }

  #in(ms: number, run: () => void): void {
    this.#timer?.cancel()
    this.#timer = this.#timers.after(ms, run, { background: true })
  }
}
