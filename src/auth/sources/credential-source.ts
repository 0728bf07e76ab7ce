import type { AccountIdentity, Credential } from './credential.js'

/** `stored`: kept by us. `environment`: of this process's variables. `host`: given by the embedding program. */
export type SourceKind = 'stored' | 'environment' | 'host'

/** Why a refresh is asked for; the first two go over the wire as they are (reference: README, wire names). */
export type RefreshReason = 'proactive_expiry' | 'unauthorized_recovery' | 'requested'

/**
 * Where a credential comes from. `load` gives what is there now, from a fresh read, or null. A source without `refresh`
 * can't renew what it gave.
 */
export interface CredentialSource {
  readonly kind: SourceKind
  load(): Promise<Credential | null>
  /**
   * Asks the authority or the host for a new one; durable before it resolves. Rejects with `FirstPartyAuthError`
   * `refresh_failed`, which says whether asking again can help.
   */
  refresh?(current: Credential, reason: RefreshReason): Promise<Credential>
  /** Keeps a login. Absent: this source can't be logged in to. */
  save?(credential: Credential): Promise<void>
  /** Deletes what is kept, if it is of this account; what another account keeps there stays. */
  remove?(identity: AccountIdentity): Promise<void>
  /** Tells the authority that the credential is no longer used. */
  revoke?(current: Credential): Promise<void>
  /** Runs `work` while no other process does the same to this source. */
  exclusively?<T>(work: () => Promise<T>): Promise<T>
}
