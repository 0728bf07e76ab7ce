import { type AccountIdentity, sameIdentity } from '../sources/credential.js'
import type { AccountGrant } from './snapshot.js'

interface OpenGrant {
  readonly grant: AccountGrant
  readonly abort: AbortController
  readonly end: AbortController
}

/** Gives each login's account its permission, and takes it back. */
export class Grants {
  #login = 0
  #open: OpenGrant[] = []

  /** After a login: the same account keeps its grant's life, another one ends every older grant. */
  login(identity: AccountIdentity): AccountGrant {
    this.#login += 1
    const isSame = ({ grant }: OpenGrant) => sameIdentity(grant.identity, identity)
    const leaving = this.#open.filter((open) => !isSame(open))
    this.#open = this.#open.filter(isSame)
    for (const { abort } of leaving) abort.abort()
    return this.#add(identity)
  }

  /** After a refresh or reload: another account gets a grant of its own, and older ones stay as they are. */
  follow(identity: AccountIdentity, current: AccountGrant): AccountGrant {
    return sameIdentity(current.identity, identity) ? current : this.#add(identity)
  }

  /** For a logout: takes all back; the returned function also ends what their sessions may still do. */
  revokeAll(): () => void {
    const all = this.#open
    this.#open = []
    for (const { abort } of all) abort.abort()
    return () => {
      for (const { end } of all) end.abort()
    }
  }

  #add(identity: AccountIdentity): AccountGrant {
    const abort = new AbortController()
    const end = new AbortController()
    const grant = Object.freeze({ identity, login: this.#login, revoked: abort.signal, ended: end.signal })
    this.#open.push({ grant, abort, end })
    return grant
  }
}
