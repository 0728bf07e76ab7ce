import type { JWTPayload, JWTVerifyResult } from 'jose'
import { type KeySet, UnknownKeyError } from './key-set.js'

/** What a token that was checked says. */
export interface AccessToken {
  readonly issuer: string
  readonly subject: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly scopes: ReadonlySet<string>
}

export interface TokenRules {
  readonly issuer: string
  readonly audience: readonly string[]
  readonly algorithms: readonly string[]
  readonly clockSkewMs: number
  readonly keys: KeySet
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Why a token counts for nothing. The texts go to clients and hold nothing of the token. */
export class InvalidTokenError extends Error {}

const REQUIRED = ['iss', 'sub', 'aud', 'exp']
/**
 * RFC 9068 wants `at+jwt`; most servers still write `JWT`, or nothing. Other types are tokens of another purpose, which
 * the same keys may have signed (RFC 8725, 3.11).
 */
const TYPES: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt'])
const LONGEST_SUBJECT = 1024

/**
 * Checks an access token in JWT form (RFC 9068, 4): signature, issuer and audience letter by letter, times.
 *
 * @throws InvalidTokenError; what `KeySet.find` throws when there are no keys to check it with
 */
export async function checkAccessToken(token: string, rules: TokenRules): Promise<AccessToken> {
  const { payload } = await verified(token, rules)
  const { iss, sub, exp } = payload
  if (typeof iss !== 'string' || typeof exp !== 'number' || !isSubject(sub))
    throw new InvalidTokenError('it names no subject')
  // It is good only with a proof of the key that it is bound to (RFC 7800, RFC 9449), and none is checked here.
  if (payload.cnf !== undefined) throw new InvalidTokenError('it is bound to a key, and such tokens are not taken')
  return { issuer: iss, subject: sub, expiresAt: exp * 1000, scopes: scopesOf(payload) }
}

async function verified(token: string, rules: TokenRules): Promise<JWTVerifyResult> {
  const { jwtVerify, errors, decodeProtectedHeader } = await import('jose')
  try {
    const { typ = 'JWT', alg } = decodeProtectedHeader(token)
    if (typeof typ !== 'string' || !TYPES.has(typ.toLowerCase())) throw new InvalidTokenError('it is no access token')
    // Before any key is looked for.
    if (typeof alg !== 'string' || !rules.algorithms.includes(alg))
      throw new InvalidTokenError('its signature algorithm is not allowed')
    return await jwtVerify(token, (header) => rules.keys.find(header), {
      issuer: rules.issuer,
      audience: [...rules.audience],
      algorithms: [...rules.algorithms],
      clockTolerance: rules.clockSkewMs / 1000,
      currentDate: new Date(rules.now()),
      requiredClaims: REQUIRED,
    })
  } catch (error) {
    if (error instanceof UnknownKeyError) throw new InvalidTokenError('its key is not known')
    if (error instanceof errors.JWTExpired) throw new InvalidTokenError('it has expired')
    if (error instanceof errors.JWTClaimValidationFailed)
      throw new InvalidTokenError(`its ${claimOf(error.claim)} does not fit`)
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw new InvalidTokenError('it is no valid token')
    throw error
  }
}

/** jose names the claim; only those that are checked here are told. */
function claimOf(claim: string): string {
  return ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat'].includes(claim) ? claim : 'content'
}

function isSubject(sub: unknown): sub is string {
  return typeof sub === 'string' && sub !== '' && sub.length <= LONGEST_SUBJECT
}

/** `scope` as a text (RFC 9068, 2.2.3), or as some servers write it: a list, or `scp`. */
function scopesOf({ scope, scp }: JWTPayload): ReadonlySet<string> {
  return new Set([scope, scp].flatMap((value) => (Array.isArray(value) ? value : [value])).flatMap(words))
}

function words(value: unknown): readonly string[] {
  return typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : []
}
