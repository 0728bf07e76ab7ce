import type { CredentialStoreError } from '../../errors.js'
import type { CredentialOwner, StoredCredential } from './credential.js'

/**
 * Where logins are kept. Reading is synchronous and cheap enough for every operation; what another process wrote is seen
 * by the next read. Every method raises `CredentialStoreError`. Nothing above this interface knows what kind it is.
 */
export interface CredentialStore {
  /** For people: where it is. */
  readonly place: string
  /** Whoever writes it changes one of these. */
  readonly files: readonly string[]
  /**
   * To be awaited before reading by whoever can wait: what there is can be read then. Where nobody did, reading may raise
   * `keychain_unavailable` with `data.pending`, and sees to it.
   */
  prepare(): Promise<void>
  all(): readonly StoredCredential[]
  /** The newest login of this owner, whoever issued it. */
  find(owner: CredentialOwner): StoredCredential | undefined
  /** Puts a login in the place of an older one with the same owner and issuer. Resolves to what is worth telling. */
  save(credential: StoredCredential): Promise<SaveReport>
  /** Puts a refreshed credential in the place of `before`; false when that is not there any more as it was. */
  replace(before: StoredCredential, after: StoredCredential): Promise<boolean>
  /** Removes every login that fits; resolves to those that were there. */
  remove(fits: (credential: StoredCredential) => boolean): Promise<readonly StoredCredential[]>
}

export interface SaveReport {
  /** Where an unreadable file was moved to before a new one was begun. */
  readonly backup?: string
  /** What did not go as it should have, and did not keep the login from being stored. */
  readonly warnings?: readonly CredentialStoreError[]
}
