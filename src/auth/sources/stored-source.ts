import type { Clock } from '../clock.js'
import type { AuthStorage } from './auth-storage.js'
import {
  type AccountIdentity,
  type Credential,
  identityOf,
  type SessionCredential,
  sameIdentity,
} from './credential.js'
import type { CredentialSource, RefreshReason } from './credential-source.js'
import { credentialFrom, sessionOf, storedFrom } from './stored-auth.js'
import { refreshFailed, type TokenEndpoint } from './token-endpoint.js'

export interface StoredSourceOptions {
  readonly storage: AuthStorage
  readonly tokens: TokenEndpoint
  readonly clock: Clock
}

/** A login that we keep: read from its storage, renewed at the authority, saved before it is used. */
export class StoredSource implements CredentialSource {
  readonly kind = 'stored'
  readonly #options: StoredSourceOptions
  /** What a refresh brought and could not be saved: the token that it was got with is used up, so it must not be lost. */
  #unsaved: { readonly usedUp: string; readonly credential: SessionCredential } | undefined

  constructor(options: StoredSourceOptions) {
    this.#options = options
  }

  async load(): Promise<Credential | null> {
    const { storage } = this.#options
    const stored = await storage.load()
    return stored === null ? null : credentialFrom(stored, storage.place)
  }

  async refresh(current: Credential, reason: RefreshReason): Promise<Credential> {
    if (current.kind !== 'chatgpt') return current
    if (current.refreshToken === undefined) throw refreshFailed('other', true, 'the session has no refresh token')
    const credential =
      this.#unsaved?.usedUp === current.refreshToken
        ? this.#unsaved.credential
        : await this.#renewed(current, current.refreshToken, reason)
    await this.save(credential)
    this.#unsaved = undefined
    return credential
  }

  async #renewed(current: SessionCredential, usedUp: string, reason: RefreshReason): Promise<SessionCredential> {
    const { tokens, clock } = this.#options
    const credential = merged(current, await tokens.refresh(usedUp, reason), clock.wall())
    this.#unsaved = { usedUp, credential }
    return credential
  }

  /**
   * Over a fresh read, so that what others keep in the same record stays; a damaged record is put
   * aside by the storage.
   */
  async save(credential: Credential): Promise<void> {
    const { storage } = this.#options
    const before = await storage.load().catch(() => null)
    await storage.save(storedFrom(credential, before ?? {}))
  }

  async remove(identity: AccountIdentity): Promise<void> {
    const kept = await this.load().catch(() => null)
    if (kept !== null && sameIdentity(identityOf(kept), identity)) await this.#options.storage.remove()
  }

  async revoke(current: Credential): Promise<void> {
    if (current.kind !== 'chatgpt') return
    await this.#options.tokens.revoke(current.refreshToken ?? current.accessToken)
  }

  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.storage.exclusively(work)
  }
}

/** Facts come from the new tokens, since another account or a new claim may be in them; else the old ones stay. */
function merged(
  current: SessionCredential,
  next: { readonly accessToken?: string; readonly refreshToken?: string; readonly idToken?: string },
  lastRefresh: number,
): SessionCredential {
  const accessToken = next.accessToken ?? current.accessToken
  const refreshToken = next.refreshToken ?? current.refreshToken
  const idToken = next.idToken ?? current.idToken
  const claimed = sessionOf({ accessToken, ...(idToken !== undefined && { idToken }) })
  const { accountId, userId, isWorkspace, isFedramp } = { ...accountOf(current), ...accountOf(claimed) }
  return sessionOf({
    accessToken,
    lastRefresh,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(idToken !== undefined && { idToken }),
    ...(accountId !== undefined && { accountId }),
    ...(userId !== undefined && { userId }),
    ...(isWorkspace !== undefined && { isWorkspace }),
    ...(isFedramp !== undefined && { isFedramp }),
  })
}

function accountOf({ accountId, userId, isWorkspace, isFedramp }: SessionCredential) {
  return {
    ...(accountId !== undefined && { accountId }),
    ...(userId !== undefined && { userId }),
    ...(isWorkspace !== undefined && { isWorkspace }),
    ...(isFedramp !== undefined && { isFedramp }),
  }
}
