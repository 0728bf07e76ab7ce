import { ConfigError } from '../../errors.js'

/**
 * JWS algorithms with a public key, which alone can be checked with what an issuer publishes. `none` and the symmetric ones
 * are no choice: whoever knows the key could make tokens (RFC 8725, 3.1; RFC 9068, 4).
 */
const ASYMMETRIC: ReadonlySet<string> = new Set([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
])

export const DEFAULT_ALGORITHMS: readonly string[] = Object.freeze([
  'RS256',
  'PS256',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
])

/** @throws ConfigError `unsafe_algorithm` */
export function allowedAlgorithms(wanted: readonly string[] = DEFAULT_ALGORITHMS): readonly string[] {
  const unsafe = wanted.find((name) => !ASYMMETRIC.has(name))
  if (unsafe === undefined && wanted.length > 0) return Object.freeze([...wanted])
  const why = unsafe === undefined ? 'none is named' : `'${unsafe}' is none with a public key`
  throw new ConfigError(
    'unsafe_algorithm',
    `signature algorithms of tokens: ${why}; known are ${[...ASYMMETRIC].join(', ')}`,
    {
      place: 'gateway.auth.algorithms',
    },
  )
}
