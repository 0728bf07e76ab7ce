import { AuthRequiredError } from '../../errors.js'
import type { HeaderField } from '../header-field.js'
import type { CredentialOwner } from '../store/credential.js'
import type { OAuthHttp } from './http.js'
import type { CredentialKeeper } from './keeper.js'

interface Operation {
  readonly origin: string
}

interface Refusal {
  readonly headers: readonly HeaderField[]
}

/**
 * The credentials of one server's connection: asked for every HTTP operation, so that a refresh, a login and a logout of
 * any process count from the next operation on. A server that nobody is logged in to gets no header.
 *
 * After a 401 the token that was refused is refreshed, once. The operation is sent again then, whatever it is: who answers
 * 401 has not carried it out (reference: auth, 1.9).
 */
export class OAuthServerAuth {
  readonly #keeper: CredentialKeeper
  readonly #owner: CredentialOwner
  readonly #http: OAuthHttp
  readonly #origin: string
  /** A token of this login went out on this connection. */
  #hadToken = false

  constructor(keeper: CredentialKeeper, owner: CredentialOwner, http: OAuthHttp) {
    this.#keeper = keeper
    this.#owner = owner
    this.#http = http
    this.#origin = new URL(owner.url).origin
  }

  /** @throws AuthRequiredError after a logout, and what `CredentialKeeper.current` throws: nothing is sent then */
  async headers(operation: Operation): Promise<readonly HeaderField[]> {
    if (operation.origin !== this.#origin) return []
    const credential = await this.#keeper.current({ owner: this.#owner, http: this.#http })
    if (credential === undefined) {
      // What this connection did as a user is not gone on with as nobody.
      if (this.#hadToken) throw this.#loggedOut()
      return []
    }
    this.#hadToken = true
    return [['Authorization', `Bearer ${credential.accessToken}`]]
  }

  async onUnauthorized(_operation: Operation, refusal: Refusal): Promise<boolean> {
    const rejected = bearerOf(refusal.headers)
    if (rejected === undefined) return false
    const wish = { owner: this.#owner, http: this.#http, rejected }
    if ((await this.#keeper.current(wish)) === undefined) throw this.#loggedOut()
    return true
  }

  #loggedOut(): AuthRequiredError {
    return new AuthRequiredError(`'${this.#owner.server}' is not logged in any more`, { place: this.#origin })
  }
}

function bearerOf(headers: readonly HeaderField[]): string | undefined {
  // The last one is what went out.
  const value = headers.findLast(([name]) => name.toLowerCase() === 'authorization')?.[1]
  return value?.startsWith('Bearer ') === true ? value.slice('Bearer '.length) : undefined
}
