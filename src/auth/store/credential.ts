/** How a client is known to one authorization server. Never used with another one. */
export interface ClientIdentity {
  readonly id: string
  /** With `private_key_jwt`: the private key, in PEM. */
  readonly secret?: string
  /** How it shows itself at the token endpoint. */
  readonly method: ClientAuthMethod
  /** `document`: its id is the URL of a client ID metadata document. */
  readonly kind: 'configured' | 'document' | 'registered'
  /** The redirect URI that it was registered with. */
  readonly redirectUri?: string
  /** Milliseconds since 1970; absent: the secret does not end. */
  readonly secretExpiresAt?: number
}

export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'

/** Whose credentials are meant: a server of one environment at one URL, used by one principal. */
export interface CredentialOwner {
  readonly server: string
  /** Where the server is reached from: `local`, or the id of an executor. */
  readonly environment: string
  /** Without its fragment. A server that moves elsewhere does not get what was meant for the old place. */
  readonly url: string
  /** `user`: whoever owns the home. Others: `@` and the id of the principal. */
  readonly principal: string
}

/** One login, as it is stored. */
export interface StoredCredential extends CredentialOwner {
  readonly issuer: string
  /** New with every login, kept by every refresh. */
  readonly loginId: string
  /** Milliseconds since 1970. */
  readonly loggedInAt: number
  /** Whom the issuer gave the token to, where its answer said so (`sub`). Compared and never shown. */
  readonly subject?: string
  readonly client: ClientIdentity
  readonly tokenEndpoint: string
  readonly revocationEndpoint?: string
  /** The resource indicator, exactly as the server publishes it. */
  readonly resource?: string
  /**
   * `client_credentials`: no user and no refresh token; the grant is asked for again. `jwt_bearer`: somebody else's word,
   * which has to be had anew where no refresh token came with it.
   */
  readonly grant: 'authorization_code' | 'client_credentials' | 'jwt_bearer'
  readonly accessToken: string
  /** The private key, in PEM, that the tokens are bound to (RFC 9449); absent for Bearer tokens. */
  readonly dpopKey?: string
  /** Milliseconds since 1970; absent: unknown, used until it is refused. */
  readonly expiresAt?: number
  readonly refreshToken?: string
  readonly scopes: readonly string[]
  /** What the server said it wants beside them when it refused the token for having too little. */
  readonly wantedScopes?: readonly string[]
  /** The authorization server refused the refresh token for good. */
  readonly needsLogin?: boolean
}

/** Milliseconds before its end at which a token counts as expired (reference: auth, 1.8). */
export const EXPIRY_MARGIN = 30_000

export function isDue(credential: StoredCredential, now: number): boolean {
  return credential.expiresAt !== undefined && now + EXPIRY_MARGIN >= credential.expiresAt
}

export function canRefresh(credential: StoredCredential): boolean {
  if (credential.needsLogin === true) return false
  return credential.grant === 'client_credentials' || (credential.refreshToken ?? '').trim() !== ''
}

/** The states of the reference (auth, 1.2): `usable`, or a login is needed. */
export function isUsable(credential: StoredCredential, now: number): boolean {
  if (credential.client.id.trim() === '' || credential.accessToken.trim() === '') return false
  if (credential.expiresAt === undefined || now < credential.expiresAt) return credential.needsLogin !== true
  return canRefresh(credential)
}

export function sameOwner(a: CredentialOwner, b: CredentialOwner): boolean {
  return a.server === b.server && a.environment === b.environment && a.url === b.url && a.principal === b.principal
}

/**
 * The same account at the same issuer: one login and its refreshes, or two logins of one subject. Two logins are taken for two
 * accounts where the issuer does not tell who it is.
 */
export function sameAccount(a: StoredCredential, b: StoredCredential): boolean {
  if (a.loginId === b.loginId) return true
  if (a.issuer !== b.issuer) return false
  const isProgram = a.grant === 'client_credentials' && b.grant === a.grant
  if (isProgram) return a.client.id === b.client.id
  return a.subject !== undefined && a.subject === b.subject
}

/** An injective text of an owner, for maps and the names of locks. */
export function ownerText({ environment, server, url, principal }: CredentialOwner): string {
  return JSON.stringify([environment, server, url, principal])
}
