import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { AuthRequiredError, CredentialStoreError, OAuthError } from '../../errors.js'
import { type CredentialOwner, canRefresh, isDue, ownerText, type StoredCredential } from '../store/credential.js'
import { withFileLock } from '../store/file-lock.js'
import type { CredentialStore } from '../store/store.js'
import { type OAuthHttp, placeOf } from './http.js'
import { REFRESH_TIME, refreshed } from './refresh.js'

export interface KeeperOptions {
  readonly store: CredentialStore
  /** For the locks. */
  readonly home: string
  /** Milliseconds that an authorization server may take. */
  readonly refreshMs?: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** One who wants a token. */
export interface TokenWish {
  readonly owner: CredentialOwner
  /** How the authorization server of this owner is reached. */
  readonly http: OAuthHttp
  /** A server refused this one: it is not given again. */
  readonly rejected?: string
}

/** Milliseconds after a failed refresh in which a token that still lives is used without another try. */
const PAUSE = 5_000
/** Milliseconds that a process which ends waits for its refreshes. */
const SETTLING = 10_000

/**
 * Gives out tokens that are valid now, and has each login refreshed once, however many operations, connections and
 * processes want it at the same time (reference: auth, 1.8 and 1.9).
 *
 * A refresh belongs to nobody who waits for it: it goes on when they leave, since the server may have changed the refresh
 * token by then. What comes of it is stored before it is used.
 */
export class CredentialKeeper {
  readonly store: CredentialStore
  readonly #home: string
  readonly #refreshMs: number
  readonly #now: () => number
  /** By owner: the refresh under way. */
  readonly #running = new Map<string, Promise<StoredCredential | undefined>>()
  /** By owner: got from the server and not stored yet, with what it replaces. */
  readonly #unsaved = new Map<string, { readonly before: StoredCredential; readonly after: StoredCredential }>()
  /** By owner: when the last refresh failed. */
  readonly #failedAt = new Map<string, number>()

  constructor({ store, home, refreshMs = REFRESH_TIME, now = Date.now }: KeeperOptions) {
    this.store = store
    this.#home = home
    this.#refreshMs = refreshMs
    this.#now = now
  }

  /**
   * The login of an owner with a token to use now; undefined when there is none, or only the rejected one and nothing to
   * get another with.
   *
   * @throws AuthRequiredError when only a new login helps; OAuthError, CredentialStoreError, RedirectRefusedError when the
   * refresh failed and may succeed later
   */
  async current(wish: TokenWish): Promise<StoredCredential | undefined> {
    await this.store.prepare()
    const known = this.store.find(wish.owner)
    if (known === undefined || this.#isGood(known, wish)) return known
    const name = ownerText(wish.owner)
    if (this.#isResting(known, wish, name)) return known
    const running = this.#running.get(name) ?? this.#begin(name, wish)
    const found = await running
    // What others had begun was perhaps not about the token that was refused here.
    return found !== undefined && found.accessToken === wish.rejected ? undefined : found
  }

  /**
   * Keeps for the next login what a server wanted beside the scopes of this token. One that was replaced meanwhile is left
   * alone.
   *
   * @throws CredentialStoreError
   */
  async note(owner: CredentialOwner, token: string, wanted: readonly string[]): Promise<void> {
    await this.store.prepare()
    const known = this.store.find(owner)
    if (known?.accessToken !== token || isDeepStrictEqual(known.wantedScopes, wanted)) return
    await this.store.replace(known, Object.freeze({ ...known, wantedScopes: wanted }))
  }

  /**
   * Resolves when no refresh is under way, or after some time: one that is cut off loses what the server has given for it.
   * Never rejects.
   */
  async settled(ms = SETTLING): Promise<void> {
    if (this.#running.size === 0) return
    const bound = new AbortController()
    const late = wait(ms, undefined, { signal: bound.signal }).catch(() => undefined)
    await Promise.race([Promise.allSettled(this.#running.values()), late])
    bound.abort()
  }

  #isGood(credential: StoredCredential, { rejected }: TokenWish): boolean {
    return credential.accessToken !== rejected && !isDue(credential, this.#now())
  }

  /** It lives on for a moment, and the last try failed just now. */
  #isResting(credential: StoredCredential, { rejected }: TokenWish, name: string): boolean {
    const failedAt = this.#failedAt.get(name)
    if (failedAt === undefined || credential.accessToken === rejected || this.#isOver(credential)) return false
    return Math.abs(this.#now() - failedAt) < PAUSE
  }

  #isOver({ expiresAt }: StoredCredential): boolean {
    return expiresAt !== undefined && this.#now() >= expiresAt
  }

  #begin(name: string, wish: TokenWish): Promise<StoredCredential | undefined> {
    const lock = createHash('sha256').update(name).digest('hex').slice(0, 32)
    const work = withFileLock(this.#home, lock, () => this.#transaction(name, wish)).finally(() =>
      this.#running.delete(name),
    )
    // Those who wait see how it ends; when all of them have left, nobody has to.
    work.catch(() => undefined)
    this.#running.set(name, work)
    return work
  }

  async #transaction(name: string, wish: TokenWish): Promise<StoredCredential | undefined> {
    await this.#saveLate(name)
    const stored = this.store.find(wish.owner)
    if (stored === undefined || this.#isGood(stored, wish)) return stored
    if (!canRefresh(stored)) return this.#withoutRefresh(stored, wish)
    try {
      const after = await refreshed(stored, wish.http, this.#refreshMs)
      this.#unsaved.set(name, { before: stored, after })
      await this.#saveLate(name)
      this.#failedAt.delete(name)
      return this.store.find(wish.owner)
    } catch (error) {
      this.#failedAt.set(name, this.#now())
      return this.#afterFailure(stored, wish, error)
    }
  }

  /** A token that could not be stored is not lost: the server has forgotten the one before it. */
  async #saveLate(name: string): Promise<void> {
    const late = this.#unsaved.get(name)
    if (late === undefined) return
    // False: a login or logout came between, and counts.
    await this.store.replace(late.before, late.after)
    this.#unsaved.delete(name)
  }

  #withoutRefresh(stored: StoredCredential, wish: TokenWish): StoredCredential {
    if (stored.accessToken !== wish.rejected && !this.#isOver(stored)) return stored
    throw needsLogin(stored)
  }

  async #afterFailure(stored: StoredCredential, wish: TokenWish, error: unknown): Promise<StoredCredential> {
    if (isFinal(error)) {
      await this.store.replace(stored, Object.freeze({ ...stored, needsLogin: true }))
      if (stored.accessToken === wish.rejected || this.#isOver(stored)) throw needsLogin(stored, error)
      return stored
    }
    // What could not be stored is not used, nor what it replaced: the next operation stores it first.
    const mayUse = stored.accessToken !== wish.rejected && !this.#isOver(stored)
    if (mayUse && !(error instanceof CredentialStoreError)) return stored
    throw error
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof OAuthError && error.code === 'oauth_token_refused' && error.data?.permanent === true
}

function needsLogin({ server, issuer }: StoredCredential, cause?: unknown): AuthRequiredError {
  return new AuthRequiredError(`the login to '${server}' at ${placeOf(issuer)} has ended: log in again`, {
    place: placeOf(issuer),
    ...(cause !== undefined && { cause }),
  })
}
