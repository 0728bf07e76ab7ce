import { DeathWatch } from './processes/death-watch.js'
import { type Attachment, Session } from './session.js'
import { invalidRequest, sessionAttached } from './wire/fault.js'

/** What a session is attached to: it can be asked whether it is still there. */
export interface Holder extends Attachment {
  /** Ends the connection unless its client shows a sign of life. */
  probe(): void
}

type Held =
  | { readonly session: Session; readonly by: Holder }
  | { readonly session: Session; readonly by: undefined; readonly expiry: NodeJS.Timeout }

/** All sessions of this executor (reference: executor-protocol, 4.2). Their ids are secrets: never to be logged. */
export class Sessions {
  readonly #detachedMs: number
  readonly #deathWatch = new DeathWatch()
  readonly #held = new Map<string, Held>()
  readonly #ending = new Set<Promise<void>>()

  /** @param detachedMs how long a session without a connection is kept */
  constructor(detachedMs: number) {
    this.#detachedMs = detachedMs
  }

  open(by: Holder): Session {
    const session = new Session(this.#deathWatch)
    this.#take(session, by)
    return session
  }

  /**
   * Attaches a session to another connection; its notifications flow at once.
   *
   * @throws RpcError -32600 when it is unknown, -32010 while it is attached
   */
  resume(id: string, by: Holder): Session {
    const held = this.#held.get(id)
    if (held === undefined) throw invalidRequest('unknown session id')
    if (held.by !== undefined) {
      // A connection that is half open would hold the session for ever: if nobody is there a next attempt succeeds.
      held.by.probe()
      throw sessionAttached()
    }
    clearTimeout(held.expiry)
    this.#take(held.session, by)
    return held.session
  }

  /** The connection is gone: the processes go on for a while. */
  detach(session: Session): void {
    session.detach()
    const expiry = setTimeout(() => void this.end(session), this.#detachedMs)
    expiry.unref()
    this.#held.set(session.id, { session, by: undefined, expiry })
  }

  /** Forgets a session and kills its processes. */
  async end(session: Session): Promise<void> {
    this.#held.delete(session.id)
    const ended = session.end()
    this.#ending.add(ended)
    await ended
    this.#ending.delete(ended)
  }

  async close(): Promise<void> {
    for (const held of [...this.#held.values()]) {
      if (held.by === undefined) clearTimeout(held.expiry)
      void this.end(held.session)
    }
    await Promise.all(this.#ending)
    this.#deathWatch.close()
  }

  #take(session: Session, by: Holder): void {
    this.#held.set(session.id, { session, by })
    session.attach(by)
  }
}
