import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, type Members, own } from '../wire/frame.js'

export interface TokenRules {
  /** The shared key of HS256: at least 32 bytes. */
  readonly secret: Uint8Array
  /** What `iss` must be. */
  readonly issuer?: string
  /** What `aud` must be or contain. */
  readonly audience?: string
  /** Seconds that the clocks may differ. */
  readonly maxClockSkewSeconds: number
}

/**
 * Why a JWT is refused; undefined when it is accepted. HS256 alone, `exp` required, `nbf` honoured (reference:
 * executor-protocol, 2.2; RFC 7519, 7.2). The signature is checked before a claim is read.
 */
export function verifyToken(token: string, rules: TokenRules, nowMs = Date.now()): string | undefined {
  const [header, payload, signature, ...rest] = token.split('.')
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) return MALFORMED
  if (own(decoded(header) ?? {}, 'alg') !== 'HS256') return 'the bearer token is not signed with HS256'
  const expected = createHmac('sha256', rules.secret).update(`${header}.${payload}`).digest()
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return 'the signature of the bearer token is wrong'
  const claims = decoded(payload)
  return claims === undefined ? MALFORMED : refusedClaim(claims, rules, nowMs / 1000)
}

const MALFORMED = 'the bearer token is not a JWT'

function refusedClaim(claims: Members, rules: TokenRules, now: number): string | undefined {
  const [exp, nbf] = [own(claims, 'exp'), own(claims, 'nbf')]
  if (typeof exp !== 'number') return 'the bearer token has no exp'
  if (exp + rules.maxClockSkewSeconds <= now) return 'the bearer token has expired'
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf - rules.maxClockSkewSeconds > now))
    return 'the bearer token is not valid yet'
  if (rules.issuer !== undefined && own(claims, 'iss') !== rules.issuer) return 'the bearer token is of another issuer'
  const audience = own(claims, 'aud')
  const audiences: readonly unknown[] = Array.isArray(audience) ? audience : [audience]
  if (rules.audience !== undefined && !audiences.includes(rules.audience))
    return 'the bearer token is for another audience'
  return undefined
}

function decoded(part: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
