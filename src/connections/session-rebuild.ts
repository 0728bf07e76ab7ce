import type { AuthContext } from '../auth/index.js'
import { FirstPartyAuthError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { followCredential } from './first-party.js'
import { refusedOperation } from './first-party-errors.js'
import type { Session } from './session.js'
import type { SessionKeeper } from './session-keeper.js'

/**
 * Has the session of a replaced credential made anew, once for all, as soon as the credential changes; what is sent next
 * waits for it. After a failure the next operation tries again, and is told why where that fails too. Source: reference,
 * runtime-auth 8 and 14.
 */
export class SessionRebuild {
  readonly #key: ServerKey
  readonly #keeper: SessionKeeper
  readonly #unfollow: () => void
  #outdated: Session | undefined
  #running: Promise<unknown> | undefined
  /** How often the credential changed. */
  #changes = 0

  constructor(key: ServerKey, keeper: SessionKeeper, auth: AuthContext | undefined) {
    this.#key = key
    this.#keeper = keeper
    this.#unfollow = auth === undefined ? () => {} : followCredential(auth, () => this.#changed())
  }

  /** What has to be waited for before anything is sent; rejects as the attempt ends. */
  pending(): Promise<unknown> | undefined {
    const isOutdated = this.#outdated !== undefined && this.#outdated === this.#keeper.current
    if (this.#running === undefined && isOutdated) this.#begin()
    return this.#running
  }

  /** The session turned out to be of a credential that is gone: it was opened while that changed. */
  outdated(session: Session): void {
    if (session !== this.#keeper.current) return
    this.#outdated = session
    if (this.#running === undefined) this.#begin()
  }

  stop(): void {
    this.#unfollow()
  }

  #changed(): void {
    this.#changes += 1
    // What runs already sees that it has to go on.
    if (this.#running !== undefined) return
    this.#outdated = this.#keeper.current
    this.#begin()
  }

  #begin(): void {
    const session = this.#outdated
    if (session === undefined) return
    const running = this.#renewed(session).finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    // Whoever sends something next is told.
    running.catch(() => undefined)
  }

  async #renewed(session: Session): Promise<void> {
    try {
      const known = this.#changes
      const renewed = await this.#keeper.renew(session)
      const isCurrent = known === this.#changes
      this.#outdated = isCurrent ? undefined : renewed
      // It was opened while the credential changed once more, and may be of the one before.
      if (!isCurrent) await this.#renewed(renewed)
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined
      throw cause instanceof FirstPartyAuthError ? refusedOperation(innermost(cause), this.#key) : error
    }
  }
}

function innermost(error: FirstPartyAuthError): FirstPartyAuthError {
  return error.cause instanceof FirstPartyAuthError ? error.cause : error
}
