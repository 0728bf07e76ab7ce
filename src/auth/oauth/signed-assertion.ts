import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import { ConfigError } from '../../errors.js'

/** Seconds that an assertion may be used for. */
const LIFE = 120

/**
 * A client's proof of who it is at a token endpoint (RFC 7523, 2.2): a JWT that its private key signs, for one issuer, to be
 * used once. The algorithm follows the key: ES256, RS256 or EdDSA.
 *
 * @param pem a private key: EC on P-256, RSA, or Ed25519
 * @throws ConfigError `invalid_private_key`
 */
export function clientAssertion(pem: string, clientId: string, issuer: string, now = Date.now()): string {
  const key = privateKey(pem)
  const at = Math.floor(now / 1000)
  const claims = { iss: clientId, sub: clientId, aud: issuer, iat: at, exp: at + LIFE, jti: randomUUID() }
  const input = `${encoded({ alg: algorithmOf(key), typ: 'JWT' })}.${encoded(claims)}`
  return `${input}.${signed(key, input)}`
}

function privateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw invalidKey('it is no private key in PEM', cause)
  }
}

function algorithmOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): 'ES256' | 'RS256' | 'EdDSA' {
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256'
  if (type === 'rsa') return 'RS256'
  if (type === 'ed25519') return 'EdDSA'
  throw invalidKey('it is neither EC on P-256 nor RSA nor Ed25519')
}

function signed(key: KeyObject, input: string): string {
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  // JOSE has the two numbers of an EC signature side by side.
  return sign(digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function invalidKey(why: string, cause?: unknown): ConfigError {
  return new ConfigError('invalid_private_key', `the private key of the client can't be used: ${why}`, {
    place: 'the private key of the client',
    ...(cause !== undefined && { cause }),
  })
}
