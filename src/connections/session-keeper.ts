import { TransportClosedError } from '../errors.js'
import type { JsonObject } from '../protocol/index.js'
import { abortError } from './abort.js'
import type { Handshake } from './negotiate.js'
import type { Session } from './session.js'
import { type OpenedSession, openAgain, type Recipe } from './startup.js'

/** Milliseconds that requests on a replaced session may still take. */
const DRAIN = 10_000

/** Holds the one open session of a connection, and puts a new one in its place when the server forgot it. */
export class SessionKeeper {
  readonly #recipe: Recipe
  readonly #lifetime: AbortSignal
  readonly #onRenewed: (handshake: Handshake) => void
  #current: Session | undefined
  #renewal: Promise<Session> | undefined

  constructor(recipe: Recipe, lifetime: AbortSignal, onRenewed: (handshake: Handshake) => void) {
    this.#recipe = recipe
    this.#lifetime = lifetime
    this.#onRenewed = onRenewed
  }

  get current(): Session | undefined {
    return this.#current
  }

  adopt(session: Session): void {
    this.#current = session
  }

  /** A session ended. False when it was not the current one. */
  lost(session: Session): boolean {
    if (this.#current !== session) return false
    this.#current = undefined
    return true
  }

  /** Tells the current session what callers had set up on an earlier one. */
  async restore(): Promise<void> {
    await this.#current?.restore()
  }

  /** A caller's request was carried out: what it set up is to outlive the session. */
  note(method: string, params: JsonObject | undefined): void {
    this.#recipe.memory.note(method, params)
    this.#current?.noted()
  }

  /**
   * A session in the place of an expired one: the one that somebody else made meanwhile, or a new one from the saved
   * recipe. One attempt at a time, shared by all who wait. A failure leaves things as they are, so that the next
   * operation tries again (reference: connections, 10.10).
   */
  renew(expired: Session): Promise<Session> {
    if (this.#current !== undefined && this.#current !== expired) return Promise.resolve(this.#current)
    this.#renewal ??= this.#replace(expired).finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  close(): void {
    const session = this.#current
    this.#current = undefined
    if (session !== undefined) this.#recipe.closings.add(session.close())
  }

  async #replace(expired: Session): Promise<Session> {
    const { closings, server } = this.#recipe
    const opened = await openAgain(this.#recipe, this.#lifetime)
    if (this.#lifetime.aborted) {
      closings.add(opened.session.close())
      throw abortError(this.#lifetime)
    }
    if (opened.session.ended || this.#current !== expired) {
      // Its connection ended meanwhile, and is being restarted.
      closings.add(opened.session.close())
      throw new TransportClosedError('Transport closed', { key: server.key, sent: false })
    }
    this.#swap(expired, opened)
    await this.restore()
    return opened.session
  }

  #swap(expired: Session, { session, handshake }: OpenedSession): void {
    const { closings, timers } = this.#recipe
    this.#current = session
    this.#onRenewed(handshake)
    const tooLong = new Promise<void>((resolve) => {
      const timer = timers.after(DRAIN, resolve, { background: true })
      void expired.drained().then(() => timer.cancel())
    })
    closings.add(Promise.race([expired.drained(), tooLong]).then(() => expired.close()))
  }
}
