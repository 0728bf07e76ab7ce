import { setImmediate as nextTurn } from 'node:timers/promises'
import { FirstPartyAuthError, InvalidArgumentsError } from '../../errors.js'
import { backoffMs } from '../backoff.js'
import type { Clock } from '../clock.js'
import { Permit } from '../permit.js'
import {
  type AccountIdentity,
  type Credential,
  credentialKey,
  identityOf,
  isHostGiven,
  sameCredential,
  sameIdentity,
} from '../sources/credential.js'
import type { CredentialSource, RefreshReason } from '../sources/credential-source.js'
import { refreshFailed } from '../sources/token-endpoint.js'
import { exclusively, firstLoaded, inTime } from './asking.js'
import { Grants } from './grants.js'
import { Leaving } from './leaving.js'
import { isRefreshDue } from './refresh-due.js'
import { type AuthChange, type SignedIn, type Snapshot, signedIn } from './snapshot.js'

export interface AuthManagerOptions {
  /** In load order: the first that has a credential gives it (reference: auth, 4). */
  readonly sources: readonly CredentialSource[]
  /** Installed from the start: then it is the only source. */
  readonly host?: CredentialSource
  readonly clock: Clock
  /** A source that could not be read, a refresh or a revocation that failed: told once each, never a secret. */
  readonly onProblem?: (problem: Error) => void
}

/**
 * The credential of a process, or of one actor in it, and everything that may change it. Readers take `current()` or
 * `auth()`; every change goes through one permit, so that a reload never brings back what a refresh has replaced.
 * Source: reference, auth 4; known-quirks 51, 59 to 61.
 */
export class AuthManager {
  readonly #options: AuthManagerOptions
  readonly #permit = new Permit()
  readonly #grants = new Grants()
  readonly #leaving: Leaving
  readonly #listeners = new Set<(change: AuthChange) => void>()
  #host: CredentialSource | undefined
  #snapshot: Snapshot = Object.freeze({ state: 'never', revision: 0 })
  /** Grows with every login, host update and logout: one that was overtaken does not come into force. */
  #intent = 0
  /** Of the snapshot whose refresh failed, and of no other. */
  #failure: { readonly snapshot: Snapshot; readonly error: FirstPartyAuthError } | undefined
  #proactive = { failures: 0, notBefore: 0 }

  private constructor(options: AuthManagerOptions) {
    this.#options = options
    this.#host = options.host
    this.#leaving = new Leaving(options.clock, (problem) => this.#report(problem))
  }

  /** Loads once. A source that can't be read is reported and counts as not signed in. */
  static async open(options: AuthManagerOptions): Promise<AuthManager> {
    const manager = new AuthManager(options)
    await manager.#permit.run(() => manager.#loadHeld('reload'))
    return manager
  }

  /** As it is now, without waiting for anything. */
  current(): Snapshot {
    return this.#snapshot
  }

  /** The permanent failure of exactly this snapshot's refresh. */
  failureOf(snapshot: Snapshot): FirstPartyAuthError | undefined {
    return this.#failure?.snapshot === snapshot ? this.#failure.error : undefined
  }

  /** What to use for a request: renewed first if that is due. A failed renewal is reported, and the old value returned. */
  async auth(): Promise<Snapshot> {
    if (this.#isDue()) await this.#permit.run(() => this.#refreshIfDueHeld())
    return this.#snapshot
  }

  /**
   * Takes over what the sources hold now, if it is of the signed-in account. Host-given credentials are left alone, an
   * account that is not the signed-in one is never adopted, and after a logout nothing is loaded. Nothing there any more
   * is a logout that somebody else made.
   *
   * Rejects with what a source says when it can't be read; the credential stays.
   */
  reload(): Promise<'changed' | 'unchanged'> {
    return this.#permit.run(() => this.#reloadHeld())
  }

  /** Guarded reload, then the authority or the host. Rejects with `FirstPartyAuthError` `refresh_failed`. */
  refresh(reason: RefreshReason = 'requested'): Promise<'changed' | 'unchanged'> {
    return this.#permit.run(() => this.#refreshHeld(reason))
  }

  /** After a refusal of the credential with this key: nothing more to do when it is another one already. */
  refreshRejected(key: string): Promise<'changed' | 'unchanged'> {
    return this.#permit.run(async () => {
      if (this.#snapshot.state !== 'signed_in') return 'unchanged'
      return this.#snapshot.key === key ? this.#refreshHeld('unauthorized_recovery') : 'changed'
    })
  }

  /**
   * Signs in: kept by the first source that keeps logins, and in force when this resolves. It ends the grants of other
   * accounts. Rejects when it can't be saved (then nothing changed), or `signed_out` when a later logout overtook it.
   */
  async login(credential: Credential): Promise<void> {
    if (isHostGiven(credential)) throw new InvalidArgumentsError('credentials of the host are installed, not logged in')
    const intent = ++this.#intent
    await this.#permit.run(async () => {
      const source = this.#keeper
      if (source === undefined) throw new InvalidArgumentsError('no source of this manager keeps logins')
      this.#overtaken(intent)
      await exclusively(source, () => this.#savedUnlessOvertaken(credential, source, intent))
      this.#overtaken(intent)
      this.#host = undefined
      this.#enter(credential, source, 'login')
    })
  }

  /** Signs in with what the sources hold, whoever's it is: the explicit way back after a logout. */
  async loginStored(): Promise<boolean> {
    const intent = ++this.#intent
    return this.#permit.run(async () => {
      this.#overtaken(intent)
      const found = await firstLoaded(this.#options.sources)
      await nextTurn()
      this.#overtaken(intent)
      if (found === undefined) return false
      this.#host = undefined
      this.#enter(found.credential, found.source, 'login')
      return true
    })
  }

  /** The host's own credential, instead of any stored one; again with new values when the host has them. */
  async installHost(source: CredentialSource): Promise<void> {
    const intent = ++this.#intent
    // However long the host takes for it, nobody else waits.
    const credential = await source.load()
    if (credential === null) throw new InvalidArgumentsError('the host gave no credential')
    await this.#permit.run(async () => {
      await nextTurn()
      this.#overtaken(intent)
      this.#host = source
      this.#enter(credential, source, 'host')
    })
  }

  /**
   * Signs out. At once: grants are taken back and nothing is sent any more. Then sessions are ended with their own last
   * valid auth, then the authority is told, then the account's own stored record goes; others' records stay.
   */
  async logout(): Promise<void> {
    this.#intent += 1
    const intent = this.#intent
    const before = this.#snapshot
    if (before.state !== 'signed_in') return
    const end = this.#grants.revokeAll()
    this.#publish({ state: 'signed_out', revision: before.revision + 1 }, 'logout')
    const { source } = before
    this.#host = undefined
    await this.#leaving.endSessions()
    end()
    await this.#permit.run(async () => {
      // A refresh that was under way may have renewed the token meanwhile; what a later login kept is not to be revoked.
      const kept = intent === this.#intent ? await this.#lastStored(source, before) : undefined
      const last = kept ?? before.credential
      await this.#leaving.revoke(source, last)
      // Whoever signed in since then has replaced the record.
      if (intent === this.#intent) await exclusively(source, async () => source.remove?.(before.identity))
    })
  }

  /** Resolves when no change is under way: one that is cut off loses what the authority has given for it. Never rejects. */
  settled(): Promise<void> {
    return this.#permit.idle()
  }

  /** Whose login the source that keeps logins holds now, whoever is signed in; null: nobody's. Rejects as `reload`. */
  async kept(): Promise<AccountIdentity | null> {
    const credential = await this.#keeper?.load()
    return credential ? identityOf(credential) : null
  }

  /** Signs in with the kept login of this account, which somebody made elsewhere, if nobody did anything here meanwhile. */
  adoptKept(identity: AccountIdentity): Promise<boolean> {
    const before = this.#snapshot
    const intent = this.#intent
    return this.#permit.run(async () => {
      const source = this.#keeper
      const credential = await source?.load()
      await nextTurn()
      const isOvertaken = before.state !== 'signed_out' || this.#snapshot !== before || intent !== this.#intent
      if (!source || !credential || isOvertaken || !sameIdentity(identityOf(credential), identity)) return false
      this.#enter(credential, source, 'login')
      return true
    })
  }

  /** `end` is run by a logout, after the grants are taken back and before the authority is told. Returns its removal. */
  beforeRevoke(end: (limit: AbortSignal) => Promise<void>): () => void {
    return this.#leaving.add(end)
  }

  /** Called after every change, in order. Returns its removal. */
  subscribe(listener: (change: AuthChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  // ---- held: the caller has the permit ----
  //
  // A new value comes into force in a turn of its own: a request that has passed its last check leaves in the turn of that
  // check, so none leaves with a value that was replaced in between.

  async #loadHeld(cause: AuthChange['cause']): Promise<void> {
    const sources = this.#host === undefined ? this.#options.sources : [this.#host]
    const found = await firstLoaded(sources).catch((error: unknown) => this.#report(error))
    await nextTurn()
    if (found && this.#snapshot.state === 'never') this.#enter(found.credential, found.source, cause)
  }

  async #reloadHeld(): Promise<'changed' | 'unchanged'> {
    const before = this.#snapshot
    if (before.state === 'signed_out' || (before.state === 'signed_in' && isHostGiven(before.credential)))
      return 'unchanged'
    if (before.state === 'never') {
      await this.#loadHeld('reload')
      return this.#changedSince(before)
    }
    const found = await firstLoaded(this.#options.sources)
    if (this.#snapshot !== before) return 'changed'
    if (found === undefined) {
      this.#intent += 1
      this.#grants.revokeAll()()
      this.#publish({ state: 'signed_out', revision: before.revision + 1 }, 'reload')
      return 'changed'
    }
    return this.#adoptHeld(before, found.credential, 'reload')
  }

  async #refreshIfDueHeld(): Promise<void> {
    if (!this.#isDue()) return
    try {
      await this.#refreshHeld('proactive_expiry')
      this.#proactive = { failures: 0, notBefore: 0 }
    } catch (error) {
      const failures = this.#proactive.failures + 1
      this.#proactive = { failures, notBefore: this.#options.clock.now() + backoffMs(failures, this.#options.clock) }
      this.#report(error)
    }
  }

  async #refreshHeld(reason: RefreshReason): Promise<'changed' | 'unchanged'> {
    const before = this.#snapshot
    if (before.state !== 'signed_in') return 'unchanged'
    const known = this.failureOf(before)
    if (known !== undefined) throw known
    const { source } = before
    if (source.refresh === undefined) return 'unchanged'
    try {
      return await exclusively(source, () => this.#renewHeld(before, source, reason))
    } catch (error) {
      // Another account on disk says nothing about this one's token.
      const isPermanent = error instanceof FirstPartyAuthError && error.data?.permanent === true
      const isOwn = isPermanent && error.data?.reason !== 'account_mismatch'
      if (isOwn && this.#snapshot === before) this.#failure = { snapshot: before, error }
      throw error
    }
  }

  /** A stored session is read again first: another process may have renewed it, and its old token must not be used twice. */
  async #renewHeld(
    before: SignedIn,
    source: CredentialSource,
    reason: RefreshReason,
  ): Promise<'changed' | 'unchanged'> {
    if (source.kind === 'stored') {
      const stored = await source.load()
      if (stored === null || !sameIdentity(identityOf(stored), before.identity)) throw anotherAccount()
      if (!sameCredential(stored, before.credential)) return this.#adoptHeld(before, stored, 'refresh')
    }
    if (this.#snapshot !== before) return 'changed'
    const asked = source.refresh?.(before.credential, reason) ?? Promise.resolve(before.credential)
    // Others limit themselves; a host is somebody else's code, and holds up everything here.
    const renewed = await (source.kind === 'host' ? inTime(asked, this.#options.clock) : asked)
    return this.#adoptHeld(before, renewed, 'refresh')
  }

  /** Only what is still the same snapshot takes a new value; a reload never changes the account, a refresh may. */
  async #adoptHeld(
    before: SignedIn,
    credential: Credential,
    cause: 'reload' | 'refresh',
  ): Promise<'changed' | 'unchanged'> {
    await nextTurn()
    if (this.#snapshot !== before) return 'changed'
    const identity = identityOf(credential)
    if (cause === 'reload' && !sameIdentity(identity, before.identity)) return 'unchanged'
    if (sameCredential(credential, before.credential)) return 'unchanged'
    const grant = this.#grants.follow(identity, before.grant)
    const { source, revision } = before
    this.#publish(signedIn({ credential, source, grant, revision: revision + 1 }), cause)
    return credentialKey(credential) === before.key ? 'unchanged' : 'changed'
  }

  // ---- parts ----

  /** What was overtaken while it was saved is not left for whoever reads the record next. */
  async #savedUnlessOvertaken(credential: Credential, source: CredentialSource, intent: number): Promise<void> {
    const before = await source.load().catch(() => null)
    await source.save?.(credential)
    await nextTurn()
    if (intent === this.#intent) return
    if (before === null) await source.remove?.(identityOf(credential))
    else await source.save?.(before)
  }

  /** The source that logins are kept by. */
  get #keeper(): CredentialSource | undefined {
    return this.#options.sources.find(({ save }) => save !== undefined)
  }

  #enter(credential: Credential, source: CredentialSource, cause: AuthChange['cause']): void {
    const grant = this.#grants.login(identityOf(credential))
    this.#publish(signedIn({ credential, source, grant, revision: this.#snapshot.revision + 1 }), cause)
  }

  #publish(after: Snapshot, cause: AuthChange['cause']): void {
    const before = this.#snapshot
    this.#snapshot = Object.freeze(after)
    this.#failure = undefined
    this.#proactive = { failures: 0, notBefore: 0 }
    const change = Object.freeze({ cause, before, after })
    for (const listener of [...this.#listeners]) this.#tell(listener, change)
  }

  /** Who listens badly must not keep the others, or the change itself, from happening. */
  #tell(listener: (change: AuthChange) => void, change: AuthChange): void {
    try {
      listener(change)
    } catch (error) {
      this.#report(error)
    }
  }

  #isDue(): boolean {
    const { clock } = this.#options
    if (this.#snapshot.state !== 'signed_in' || this.failureOf(this.#snapshot) !== undefined) return false
    return clock.now() >= this.#proactive.notBefore && isRefreshDue(this.#snapshot.credential, clock.wall())
  }

  async #lastStored(source: CredentialSource, { identity }: SignedIn): Promise<Credential | undefined> {
    if (source.kind !== 'stored') return undefined
    const stored = await source.load().catch((error: unknown) => this.#report(error))
    return stored && sameIdentity(identityOf(stored), identity) ? stored : undefined
  }

  #changedSince(before: Snapshot): 'changed' | 'unchanged' {
    return this.#snapshot === before ? 'unchanged' : 'changed'
  }

  #overtaken(intent: number): void {
    if (intent !== this.#intent) throw new FirstPartyAuthError('signed_out', 'a later login or logout took its place')
  }

  #report(problem: unknown): undefined {
    if (problem instanceof Error) this.#options.onProblem?.(problem)
  }
}

function anotherAccount(): FirstPartyAuthError {
  return refreshFailed('account_mismatch', true, 'you have since signed in to another account')
}
