import { type AccountIdentity, type Credential, credentialKey, identityOf } from '../sources/credential.js'
import type { CredentialSource } from '../sources/credential-source.js'

/**
 * Who is signed in at one moment. `never`: nobody has been yet, in this process. `signed_out`: somebody was; nothing is
 * sent for them again until a login. `revision` grows with every change.
 */
export type Snapshot =
  | { readonly state: 'never'; readonly revision: number }
  | { readonly state: 'signed_out'; readonly revision: number }
  | SignedIn

export interface SignedIn {
  readonly state: 'signed_in'
  readonly revision: number
  readonly credential: Credential
  readonly source: CredentialSource
  readonly identity: AccountIdentity
  /** Tells credential values apart; never a secret. */
  readonly key: string
  readonly grant: AccountGrant
}

/**
 * The permission that an account's login gave, opaque: it is the same as long as the account stays signed in, and taken
 * back at once when another one signs in or it signs out.
 */
export interface AccountGrant {
  readonly identity: AccountIdentity
  /** Which login it came with; a refresh that changes the account gives a new grant under the same login. */
  readonly login: number
  /** Fires when nothing may be sent under it any more, but for the end of sessions. */
  readonly revoked: AbortSignal
  /** Fires after a logout, when its sessions had their time to end: from then on nothing at all is sent under it. */
  readonly ended: AbortSignal
}

export function signedIn(facts: Omit<SignedIn, 'state' | 'identity' | 'key'>): SignedIn {
  const { credential } = facts
  return Object.freeze({
    state: 'signed_in',
    ...facts,
    identity: identityOf(credential),
    key: credentialKey(credential),
  })
}

/** What changed, for those who hold connections. */
export interface AuthChange {
  readonly cause: 'login' | 'host' | 'reload' | 'refresh' | 'logout'
  readonly before: Snapshot
  readonly after: Snapshot
}
