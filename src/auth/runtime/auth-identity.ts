import { createHash } from 'node:crypto'
import type { Snapshot } from '../manager/snapshot.js'
import type { RuntimeAuthMode } from './mode.js'

/**
 * What first-party auth adds to the identity of a connection: mode, kind of source and account. Neither a secret nor what a
 * refresh changes is in it, so that a renewed token is no new account. Source: reference, auth 3, "Identities".
 */
export interface AuthIdentity {
  readonly mode: RuntimeAuthMode
  /** The credential's kind; null when nobody is signed in. */
  readonly source: string | null
  /** A digest of account, user, workspace flag and, where there is none, the principal. */
  readonly account: string | null
}

export function authIdentity(mode: RuntimeAuthMode, snapshot: Snapshot): AuthIdentity {
  if (snapshot.state !== 'signed_in') return Object.freeze({ mode, source: null, account: null })
  const { accountId, userId, isWorkspace, principal } = snapshot.identity
  const account = digest([accountId, userId, isWorkspace, principal])
  return Object.freeze({ mode, source: snapshot.credential.kind, account })
}

/**
 * The key of hosted tools that may be kept, in memory and in file names: an account's, for one backend, product and mode; an
 * entry of another mode is never found under it. Lower-case hex. Source: reference, runtime-auth 14; known-quirks 68.
 */
export function toolCacheKey(identity: AuthIdentity, baseUrl: string, productSku = 'codex'): string {
  return digest([identity.mode, identity.source, identity.account, baseUrl, productSku])
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
