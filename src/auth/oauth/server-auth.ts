import { AccountChangedError, AuthRequiredError } from '../../errors.js'
import type { HeaderField } from '../header-field.js'
import { type CredentialOwner, type StoredCredential, sameAccount } from '../store/credential.js'
import { type DpopSigner, dpopSigner, nonceOf } from './dpop.js'
import type { OAuthHttp } from './http.js'
import type { CredentialKeeper } from './keeper.js'
import { MAX_SCOPES } from './scopes.js'
import { scopeList } from './token-endpoint.js'
import { bearerChallenge } from './www-authenticate.js'

interface Operation {
  readonly method: string
  readonly url: string
  readonly origin: string
}

interface Refusal {
  readonly challenge?: string | undefined
  /** Of `DPoP-Nonce`: what the server wants in the next proof. */
  readonly dpopNonce?: string | undefined
  readonly headers: readonly HeaderField[]
}

/** As whom a connection speaks: undefined until its first operation, and then the same for its life, sessions lost and all. */
export interface ConnectionAccount {
  as: StoredCredential | 'nobody' | undefined
}

/**
 * The credentials of one server's connection: asked for every HTTP operation, so that a refresh, a login and a logout of
 * any process count from the next operation on. A server that nobody is logged in to gets no header. A connection speaks for
 * one account: a login as another one makes it refuse, and one that was nobody's stays so.
 *
 * After a 401 the token that was refused is refreshed, once. The operation is sent again then, whatever it is: who answers
 * 401 has not carried it out (reference: auth, 1.9).
 */
export class OAuthServerAuth {
  readonly #keeper: CredentialKeeper
  readonly #owner: CredentialOwner
  readonly #http: OAuthHttp
  readonly #origin: string
  readonly #account: ConnectionAccount
  /** What the server wanted last in the proof of a bound token. */
  #nonce: string | undefined
  #signs: { readonly key: string; readonly signer: DpopSigner } | undefined

  constructor(
    keeper: CredentialKeeper,
    owner: CredentialOwner,
    http: OAuthHttp,
    account: ConnectionAccount = { as: undefined },
  ) {
    this.#account = account
    this.#keeper = keeper
    this.#owner = owner
    this.#http = http
    this.#origin = new URL(owner.url).origin
  }

  /**
   * @throws AuthRequiredError after a logout; AccountChangedError after a login as somebody else; and what
   * `CredentialKeeper.current` throws: nothing is sent then
   */
  async headers(operation: Operation): Promise<readonly HeaderField[]> {
    if (operation.origin !== this.#origin || this.#account.as === 'nobody') return []
    const credential = await this.#current()
    if (credential === undefined) return []
    const { accessToken: token, dpopKey: key } = credential
    if (key === undefined) return [['Authorization', `Bearer ${token}`]]
    const { method, url } = operation
    return [
      ['Authorization', `DPoP ${token}`],
      ['DPoP', this.#signer(key)({ method, url, token, nonce: this.#nonce })],
    ]
  }

  async onUnauthorized(_operation: Operation, refusal: Refusal): Promise<boolean> {
    const rejected = tokenOf(refusal.headers)
    if (rejected === undefined) return false
    const { dpopNonce } = refusal
    if (rejected.scheme === 'DPoP' && dpopNonce !== undefined) {
      this.#nonce = dpopNonce
      // It is the proof that was refused then, not the token.
      if (sentNonce(refusal.headers) !== dpopNonce) return true
    }
    await this.#current(rejected.token)
    return true
  }

  /** What a token has too little for is noted with its login: the next one asks for it, too. */
  async onForbidden(_operation: Operation, { challenge, headers }: Refusal): Promise<void> {
    const { error, scope } = bearerChallenge(challenge === undefined ? [] : [challenge])
    const refused = tokenOf(headers)
    if (error !== 'insufficient_scope' || scope === undefined || refused === undefined) return
    // One more than a login may ask for is enough to refuse it.
    await this.#keeper.note(this.#owner, refused.token, scopeList(scope).slice(0, MAX_SCOPES + 1))
  }

  /** Undefined: nobody is logged in, nor was when this connection began. */
  async #current(rejected?: string): Promise<StoredCredential | undefined> {
    const account = this.#account
    const wish = { owner: this.#owner, http: this.#http, ...(rejected !== undefined && { rejected }) }
    await this.#keeper.store.prepare()
    // Whose it is is looked at first: the login of another account is not refreshed on behalf of this one.
    this.#refuseAnother(this.#keeper.store.find(this.#owner))
    const found = await this.#keeper.current(wish)
    this.#refuseAnother(found)
    if (found !== undefined) {
      // The newest of them: a refresh may be the first to tell whose it is.
      account.as = found
      return found
    }
    // What this connection did as a user is not gone on with as nobody.
    if (account.as !== undefined && account.as !== 'nobody') throw this.#loggedOut()
    account.as = 'nobody'
    return undefined
  }

  #refuseAnother(found: StoredCredential | undefined): void {
    const { as } = this.#account
    if (found === undefined || as === undefined || as === 'nobody' || sameAccount(as, found)) return
    const { server } = this.#owner
    const text = `'${server}' was logged in to as another account: nothing was sent. A new step speaks for that account`
    throw new AccountChangedError(text, { place: this.#origin })
  }

  #signer(key: string): DpopSigner {
    if (this.#signs?.key !== key) this.#signs = { key, signer: dpopSigner(key) }
    return this.#signs.signer
  }

  #loggedOut(): AuthRequiredError {
    return new AuthRequiredError(`'${this.#owner.server}' is not logged in any more`, { place: this.#origin })
  }
}

function sentNonce(headers: readonly HeaderField[]): string | undefined {
  const proof = headers.findLast(([name]) => name === 'DPoP')?.[1] ?? ''
  return nonceOf(proof)
}

function tokenOf(headers: readonly HeaderField[]): { readonly scheme: string; readonly token: string } | undefined {
  // The last one is what went out.
  const value = headers.findLast(([name]) => name.toLowerCase() === 'authorization')?.[1]
  const [, scheme, token] = /^(Bearer|DPoP) (.+)$/.exec(value ?? '') ?? []
  return scheme === undefined || token === undefined ? undefined : { scheme, token }
}
