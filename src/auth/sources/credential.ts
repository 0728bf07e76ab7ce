import { createHash } from 'node:crypto'
import type { HeaderField } from '../header-field.js'
import { readClaims } from './claims.js'

/** The key of an API account, and what of it is used. Never refreshed. */
export interface ApiKeyCredential {
  readonly kind: 'apiKey'
  readonly key: string
  readonly organization?: string
  readonly project?: string
}

/** A stored, refreshable session. */
export interface SessionCredential extends AccountFacts {
  readonly kind: 'chatgpt'
  readonly accessToken: string
  readonly refreshToken?: string
  readonly idToken?: string
  /** When it was last refreshed, milliseconds since 1970. */
  readonly lastRefresh?: number
}

/** Tokens that the host gave; in memory alone. */
export interface HostTokensCredential extends AccountFacts {
  readonly kind: 'chatgptAuthTokens'
  readonly accessToken: string
}

/** Headers that the host gave, sent as they are. */
export interface HostHeadersCredential extends AccountFacts {
  readonly kind: 'headers'
  readonly headers: readonly HeaderField[]
  readonly userId: string
  /** Whether the headers are for the first-party backend. */
  readonly usesBackend: boolean
}

/** An older agent identity: it signs for itself and needs no registration (reference: auth, 2.3). */
export interface AgentIdentityCredential extends AccountFacts {
  readonly kind: 'agentIdentity'
  readonly runtimeId: string
  /** Ed25519, PKCS#8 DER in standard base64. */
  readonly privateKey: string
}

/** The host makes each assertion itself. */
export interface HostAssertionCredential extends AccountFacts {
  readonly kind: 'hostAssertion'
  readonly userId: string
  /** For `dual_header`. */
  readonly accessToken?: string
  /** A new value for every request; what it gives is sent once and forgotten. */
  readonly assert: (request: AssertedRequest) => Promise<string>
}

export interface AssertedRequest {
  readonly method: string
  readonly url: string
}

export interface PersonalTokenCredential extends AccountFacts {
  readonly kind: 'personalAccessToken'
  readonly token: string
}

export interface AccountFacts {
  readonly accountId?: string
  readonly userId?: string
  readonly isWorkspace?: boolean
  readonly isFedramp?: boolean
}

/** Everything that can say who we are. A value: it is replaced, never changed. */
export type Credential =
  | ApiKeyCredential
  | SessionCredential
  | HostTokensCredential
  | HostHeadersCredential
  | AgentIdentityCredential
  | HostAssertionCredential
  | PersonalTokenCredential

export type CredentialKind = Credential['kind']

/** What was given by the host: never loaded from storage, never replaced by a reload. */
export function isHostGiven({ kind }: Credential): boolean {
  return kind === 'chatgptAuthTokens' || kind === 'headers' || kind === 'hostAssertion'
}

/** Whether a session of this kind talks to the first-party backend (reference: auth, 2.5). */
export function usesBackend(credential: Credential): boolean {
  if (credential.kind === 'headers') return credential.usesBackend
  return credential.kind !== 'apiKey'
}

/** The bearer token; undefined for kinds that have none. */
export function bearerOf(credential: Credential): string | undefined {
  switch (credential.kind) {
    case 'apiKey':
      return credential.key
    case 'chatgpt':
    case 'chatgptAuthTokens':
    case 'hostAssertion':
      return credential.accessToken
    case 'personalAccessToken':
      return credential.token
    case 'headers':
    case 'agentIdentity':
      return undefined
  }
}

/** When its token ends, milliseconds since 1970; undefined where it has none that says so. */
export function tokenEndsAt(credential: Credential): number | undefined {
  const token = bearerOf(credential)
  return token === undefined ? undefined : readClaims(token).expiresAt
}

/** Whose credential it is. A connection belongs to one and follows no other. */
export interface AccountIdentity {
  readonly accountId: string | null
  readonly userId: string | null
  readonly isWorkspace: boolean
  /** For kinds that name no account: a hash of the secret itself, so that two keys are two accounts. */
  readonly principal: string | null
}

export function identityOf(credential: Credential): AccountIdentity {
  if (credential.kind === 'apiKey')
    return Object.freeze({ accountId: null, userId: null, isWorkspace: false, principal: credentialKey(credential) })
  const { accountId = null, userId = null, isWorkspace = false } = credential
  const principal = accountId === null && userId === null ? credentialKey(credential) : null
  return Object.freeze({ accountId, userId, isWorkspace, principal })
}

export function sameIdentity(a: AccountIdentity, b: AccountIdentity): boolean {
  return (
    a.accountId === b.accountId &&
    a.userId === b.userId &&
    a.isWorkspace === b.isWorkspace &&
    a.principal === b.principal
  )
}

/**
 * Tells what is sent apart, without the value itself: the bearer and the account that goes with it. A refresh that brings
 * the identical token has the same key, and so the same registration (reference: runtime-auth, 7).
 */
export function credentialKey(credential: Credential): string {
  return createHash('sha256')
    .update(JSON.stringify([credential.kind, ...sentValues(credential)]))
    .digest('hex')
}

/** Nothing differs that a reload would have to take over (reference: auth, 4, "Equality for refresh"). */
export function sameCredential(a: Credential | null, b: Credential | null): boolean {
  if (a === null || b === null) return a === b
  if (a.kind === 'hostAssertion' && b.kind === 'hostAssertion' && a.assert !== b.assert) return false
  if (a.kind === 'chatgpt' && b.kind === 'chatgpt') {
    if (a.refreshToken !== b.refreshToken || a.idToken !== b.idToken || a.lastRefresh !== b.lastRefresh) return false
  }
  return credentialKey(a) === credentialKey(b)
}

function sentValues(credential: Credential): readonly unknown[] {
  if (credential.kind === 'apiKey') return [credential.key, credential.organization ?? null, credential.project ?? null]
  const { accountId = null, userId = null, isWorkspace = false, isFedramp = false } = credential
  const account = [accountId, userId, isWorkspace, isFedramp]
  switch (credential.kind) {
    case 'chatgpt':
    case 'chatgptAuthTokens':
      return [credential.accessToken, ...account]
    case 'headers':
      return [credential.headers, credential.usesBackend, ...account]
    case 'agentIdentity':
      return [credential.runtimeId, credential.privateKey, ...account]
    case 'hostAssertion':
      return [credential.accessToken ?? null, ...account]
    case 'personalAccessToken':
      return [credential.token, ...account]
  }
}
