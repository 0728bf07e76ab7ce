import { CancelledError, ClosedError, NotConnectedError, type ReeveError, TransportClosedError } from '../errors.js'
import { displayKey, type ServerKey } from '../identity/index.js'
import type { TransportClosed } from '../protocol/index.js'
import { orAborted } from './abort.js'
import { Backoff } from './backoff.js'
import { environmentFault, mayReturn } from './environment-fault.js'
import { withEnvironmentKey } from './error-key.js'
import type { Handshake } from './negotiate.js'
import { Restart } from './restart.js'
import type { Session } from './session.js'
import { SessionKeeper } from './session-keeper.js'
import { type Recipe, type StartedSession, startUp } from './startup.js'
import { startupFailure } from './startup-failure.js'
import type { ConnectionState } from './state.js'

export interface LifecycleHooks {
  /** After every transition, and never in the middle of one. */
  onState(state: ConnectionState): void
  /** Publishes what a started server offers, before it counts as ready. Resolves to what tells of it, for afterwards. */
  publish(started: StartedSession): Promise<() => void>
  /** An expired session was replaced. */
  onRenewed(): void
}

/** When a server is started, restarted and given up (reference: connections, 5 to 7). */
export class Lifecycle {
  readonly #recipe: Recipe
  readonly #hooks: LifecycleHooks
  readonly #backoff: Backoff
  readonly #keeper: SessionKeeper
  readonly #lifetime = new AbortController()
  #state: ConnectionState
  #wasUp = false
  #retired = false
  /** Attempts that failed since it was up. */
  #failures = 0
  #startup: { readonly abort: AbortController; readonly outcome: Promise<ConnectionState> } | undefined
  readonly #restart: Restart

  constructor(recipe: Recipe, hooks: LifecycleHooks, random?: () => number) {
    this.#recipe = recipe
    this.#hooks = hooks
    this.#backoff = new Backoff(recipe.timers, random)
    this.#keeper = new SessionKeeper(recipe, this.#lifetime.signal, (handshake) => this.#agreedAnew(handshake))
    this.#restart = new Restart(recipe.timers, recipe.environment, {
      start: () => void this.started(),
      later: () => this.#later(),
    })
    this.#state = Object.freeze({ state: 'idle', since: recipe.timers.now() })
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Fires when the connection is closed. */
  get lifetime(): AbortSignal {
    return this.#lifetime.signal
  }

  /** Holds the session; there is one exactly while the state is `ready`. */
  get keeper(): SessionKeeper {
    return this.#keeper
  }

  /** Starts now what is not up or starting already, also within the delay after a crash. */
  started(): Promise<ConnectionState> {
    if (this.#startup !== undefined) return this.#startup.outcome
    if (this.#state.state === 'ready' || this.#state.state === 'closed') return Promise.resolve(this.#state)
    this.#stopTrying()
    const abort = new AbortController()
    const outcome = Promise.resolve()
      .then(() => this.#attempt(abort.signal))
      .finally(() => {
        if (this.#startup?.abort === abort) this.#startup = undefined
      })
    this.#startup = { abort, outcome }
    this.#to({ state: 'starting', since: this.#now(), restart: this.#wasUp, failures: this.#failures })
    return outcome
  }

  /** How things are once no startup is under way. Starts nothing. */
  settled(signal?: AbortSignal): Promise<ConnectionState> {
    return orAborted(this.#startup?.outcome ?? Promise.resolve(this.#state), signal)
  }

  /** The session, made now if need be; throws as the attempt ended. */
  async demand(): Promise<Session> {
    const outcome = await this.started()
    if (outcome.state !== 'ready') throw outcomeError(outcome, this.#recipe.server.key)
    const session = this.#keeper.current
    if (session === undefined) throw new NotConnectedError(this.#recipe.server.key)
    return session
  }

  /** A session in the place of an expired one; a restarted one when the connection ended meanwhile. */
  async renewed(expired: Session): Promise<Session> {
    try {
      return await this.#keeper.renew(expired)
    } catch (error) {
      if (this.#state.state === 'ready') throw error
      return this.demand()
    }
  }

  cancelStartup(): void {
    if (this.#state.state !== 'starting' && this.#state.state !== 'waiting') return
    this.#stopTrying()
    this.#to({ state: 'cancelled', since: this.#now() })
  }

  close(): void {
    if (this.#state.state === 'closed') return
    this.#stopTrying()
    this.#lifetime.abort(new ClosedError(`the connection to '${displayKey(this.#recipe.server.key)}'`))
    this.#keeper.close()
    this.#to({ state: 'closed', since: this.#now() })
  }

  /** While it is retired, the end of the session is the end of the connection. */
  retire(retired: boolean): void {
    this.#retired = retired
  }

  /** A session ended without being asked to. */
  ended(session: Session, closed: TransportClosed): void {
    if (!this.#keeper.lost(session)) return
    if (this.#retired) {
      this.close()
      return
    }
    const { key } = this.#recipe.server
    // What ran there is gone for good, and what it offered with it, whenever another one takes its place.
    if (environmentFault(closed.error) !== undefined) this.#failures += 1
    const text = closed.error === undefined ? 'Transport closed' : `Transport closed: ${closed.error.message}`
    this.#waitToRestart(new TransportClosedError(text, { key, sent: true, cause: closed.error }))
  }

  async #attempt(signal: AbortSignal): Promise<ConnectionState> {
    try {
      const started = await startUp(this.#recipe, signal)
      const announce = await this.#hooks.publish(started)
      this.#up(started, signal)
      announce()
    } catch (error) {
      if (!signal.aborted) this.#down(error)
    }
    return this.#state
  }

  #up({ session, handshake }: StartedSession, signal: AbortSignal): void {
    if (signal.aborted || session.ended) {
      this.#recipe.closings.add(session.close())
      throw new TransportClosedError('Transport closed', { sent: true, data: { during: 'the request' } })
    }
    this.#wasUp = true
    this.#failures = 0
    this.#backoff.ready()
    this.#keeper.adopt(session)
    this.#to({ state: 'ready', since: this.#now(), handshake })
    void this.#keeper.restore()
  }

  #down(error: unknown): void {
    const { server, authState, principal } = this.#recipe
    const failure = startupFailure(server, error, 'listing', authState?.(server), principal)
    this.#failures += 1
    const comesBack = this.#wasUp || this.#isLost(failure)
    if (comesBack && !failure.authRequired && !this.#isPlaceGone) this.#waitToRestart(failure)
    else this.#to({ state: 'failed', since: this.#now(), error: failure })
  }

  /** Nothing can ever be started there again. */
  get #isPlaceGone(): boolean {
    return this.#recipe.environment?.state.is === 'closed'
  }

  /** It is down because of its environment; also when its own time was over before the environment said anything. */
  #isLost(error: ReeveError): boolean {
    const fault = environmentFault(error)
    return fault === undefined ? this.#restart.isEnvironmentAway : mayReturn(fault)
  }

  #waitToRestart(error: ReeveError, since = this.#now()): void {
    const lost = this.#isLost(error)
    // The executor came back before the loss was noticed.
    const atOnce = lost && this.#backoff.isFresh && this.#restart.isEnvironmentReady
    const regular = this.#backoff.next()
    const delay = atOnce ? 0 : regular
    const failures = this.#failures
    this.#restart.arm(delay, lost)
    this.#to({ state: 'waiting', since, error, retryAt: this.#now() + delay, failures })
  }

  /** The environment is still away. */
  #later(): void {
    if (this.#state.state !== 'waiting') return
    const { error, since } = this.#state
    if (this.#isPlaceGone) {
      const failure = startupFailure(this.#recipe.server, error, 'opening')
      this.#to({ state: 'failed', since: this.#now(), error: failure })
    } else this.#waitToRestart(error, since)
  }

  #agreedAnew(handshake: Handshake): void {
    if (this.#state.state === 'ready') this.#state = Object.freeze({ ...this.#state, handshake })
    this.#hooks.onRenewed()
  }

  #stopTrying(): void {
    this.#restart.cancel()
    this.#startup?.abort.abort()
    this.#startup = undefined
  }

  #to(state: ConnectionState): void {
    this.#state = Object.freeze(state)
    this.#hooks.onState(this.#state)
  }

  #now(): number {
    return this.#recipe.timers.now()
  }
}

/** Why a connection is not up. An environment that is on its way back is told as just that: try again soon. */
export function outcomeError(state: ConnectionState, key: ServerKey): ReeveError {
  switch (state.state) {
    case 'failed':
    case 'waiting': {
      const fault = environmentFault(state.error)
      return fault?.code === 'environment_recovering' ? withEnvironmentKey(fault, key) : state.error
    }
    case 'cancelled':
      return new CancelledError(`the startup of '${displayKey(key)}' was cancelled`, { key })
    case 'closed':
      return new ClosedError(`the connection to '${displayKey(key)}'`)
    default:
      return new NotConnectedError(key)
  }
}
