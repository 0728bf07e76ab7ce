import { setTimeout as pause } from 'node:timers/promises'
import {
  ClosedError,
  EnvironmentError,
  OperationTimeoutError,
  type ReeveError,
  RpcError,
  TransportClosedError,
} from '../../errors.js'
import { EXEC_CODES, EXEC_LIMITS } from '../../protocol/index.js'
import { handshakeFault, type Link, openLink } from './link.js'
import { type Connector, REFUSED } from './wire.js'

export interface SessionOptions {
  readonly environment: string
  readonly connector: Connector
  readonly clientName: string
  readonly initializeMs?: number
  readonly largest?: number
  /** The whole time to take a lost connection up again, in milliseconds; 45,000. */
  readonly recoveryMs?: number
  /** How long nobody may listen there until the executor counts as gone, in milliseconds; 2,000. */
  readonly refusedMs?: number
  readonly onevent: (method: string, params: unknown) => void
  /** Runs on the new connection before anything else does. What it raises, other than a lost connection, ends the session. */
  readonly onresumed: (link: Link) => Promise<void>
}

type SessionState =
  | { readonly is: 'new' }
  | { readonly is: 'up'; readonly link: Link }
  | { readonly is: 'recovering'; readonly since: number; readonly up: Promise<void> }
  | { readonly is: 'ended'; readonly reason: ReeveError }

/**
 * What an executor keeps for us beyond one connection: lost, it is taken up again every 100 ms for at most 45 s
 * (reference: executor-protocol, 4.3). An executor whose port nobody listens at was killed, and its sessions with it:
 * whoever waits for an answer from there is told much sooner. Over connections that end the executor with them the loss is final at once.
 */
export class Session {
  /** Resolves once, with the reason. */
  readonly ended: Promise<ReeveError>
  readonly #options: SessionOptions
  readonly #abort = new AbortController()
  #state: SessionState = { is: 'new' }
  #reportEnd: (reason: ReeveError) => void = () => {}

  constructor(options: SessionOptions) {
    this.#options = options
    this.ended = new Promise((resolve) => {
      this.#reportEnd = resolve
    })
  }

  get recovering(): boolean {
    return this.#state.is === 'recovering'
  }

  /** Bounded by the connector's and the handshake's time. Raises `EnvironmentError`, `CancelledError`. */
  async open(signal?: AbortSignal): Promise<Link> {
    const { environment, connector } = this.#options
    try {
      const signals = signal === undefined ? this.#abort.signal : AbortSignal.any([signal, this.#abort.signal])
      const link = await openLink({ ...this.#options, signal: signals })
      this.#adopt(link)
      return link
    } catch (error) {
      throw handshakeFault(error, environment, connector.place)
    }
  }

  /**
   * The connection, once there is one. Raises `EnvironmentError`: `environment_recovering` after `waitMs` without one
   * (nothing was sent), or `environment_lost`.
   */
  async link(waitMs: number): Promise<Link> {
    const deadline = performance.now() + waitMs
    for (;;) {
      const state = this.#state
      if (state.is === 'up') return state.link
      if (state.is !== 'recovering') throw state.is === 'ended' ? state.reason : new ClosedError('the session')
      const left = deadline - performance.now()
      if (left <= 0) throw this.#recoveringFor(performance.now() - state.since)
      const timer = new AbortController()
      const late = pause(left, undefined, { signal: timer.signal }).catch(() => undefined)
      await Promise.race([state.up, late])
      timer.abort()
    }
  }

  /** Gives up the connection, not the session: for one that no longer answers. */
  drop(reason: ReeveError): void {
    if (this.#state.is === 'up') this.#state.link.drop(reason)
  }

  /** Idempotent. What runs in the session goes on at the executor until its time is over. */
  async close(): Promise<void> {
    const link = this.#state.is === 'up' ? this.#state.link : undefined
    this.#finish(new ClosedError(`the session with environment '${this.#options.environment}'`))
    await link?.close()
  }

  #adopt(link: Link): void {
    if (this.#state.is === 'ended') {
      link.drop()
      return
    }
    this.#state = { is: 'up', link }
    void link.lost.then((reason) => this.#onlost(link, reason))
  }

  #onlost(link: Link, reason: ReeveError): void {
    if (this.#state.is !== 'up' || this.#state.link !== link) return
    if (!this.#options.connector.resumable || !worthAnother(reason)) {
      this.#finish(this.#lost(reason))
      return
    }
    let report: () => void = () => {}
    const up = new Promise<void>((resolve) => {
      report = resolve
    })
    this.#state = { is: 'recovering', since: performance.now(), up }
    void this.#recover(link.sessionId).then(
      (next) => {
        this.#adopt(next)
        report()
      },
      (error: unknown) => {
        this.#finish(this.#lost(error))
        report()
      },
    )
  }

  async #recover(resume: string): Promise<Link> {
    const { recoveryMs = EXEC_LIMITS.recoveryMs, refusedMs = REFUSED_MS } = this.#options
    let refusedSince: number | undefined
    const deadline = performance.now() + recoveryMs
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(recoveryMs)])
    for (let wait: number = FIRST_RETRY_MS; ; wait = EXEC_LIMITS.recoveryRetryMs) {
      await pause(wait, undefined, { signal: this.#abort.signal })
      try {
        const link = await openLink({ ...this.#options, resume, signal })
        try {
          await this.#options.onresumed(link)
          if (link.open) return link
        } catch (error) {
          link.drop()
          throw error
        }
      } catch (error) {
        if (this.#abort.signal.aborted) throw error
        if (!signal.aborted && !worthAnother(error)) throw error
        refusedSince = isRefusal(error) ? (refusedSince ?? performance.now()) : undefined
        if (refusedSince !== undefined && performance.now() - refusedSince >= refusedMs) throw error
        if (performance.now() + EXEC_LIMITS.recoveryRetryMs >= deadline)
          throw new OperationTimeoutError(`the return of environment '${this.#options.environment}'`, recoveryMs)
      }
    }
  }

  #finish(reason: ReeveError): void {
    if (this.#state.is === 'ended') return
    this.#state = { is: 'ended', reason }
    this.#abort.abort()
    this.#reportEnd(reason)
  }

  #recoveringFor(ms: number): EnvironmentError {
    const { environment, connector } = this.#options
    const text = `environment '${environment}' is recovering: the connection to ${connector.place} was lost; try again soon`
    const data = { recoveringMs: Math.round(ms), sent: false }
    return new EnvironmentError('environment_recovering', environment, text, { place: connector.place, data })
  }

  #lost(cause: unknown): EnvironmentError {
    const { environment, connector } = this.#options
    const reason = cause instanceof Error ? cause.message : String(cause)
    const text = `environment '${environment}': what ran at ${connector.place} is lost: ${reason}`
    return new EnvironmentError('environment_lost', environment, text, { place: connector.place, cause })
  }
}

/** Nothing for good: no connection, no answer, or the old connection still counts. */
function worthAnother(error: unknown): boolean {
  if (error instanceof RpcError) return error.rpcCode === EXEC_CODES.sessionAttached
  if (error instanceof EnvironmentError) return error.code === 'environment_unreachable'
  return error instanceof TransportClosedError || error instanceof OperationTimeoutError
}

function isRefusal(error: unknown): boolean {
  return error instanceof EnvironmentError && error.data?.reason === REFUSED
}

const FIRST_RETRY_MS = 20
const REFUSED_MS = 2000
