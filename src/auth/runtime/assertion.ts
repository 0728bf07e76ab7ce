import { randomUUID, sign } from 'node:crypto'
import { FirstPartyAuthError } from '../../errors.js'
import type { RuntimeKey } from './key-pair.js'

/** Bytes of a whole value, the `1.` included. */
export const MAX_ASSERTION_BYTES = 8192

const PROTECTED = Buffer.from('{"alg":"EdDSA","typ":"openai-agent-assertion+jws"}').toString('base64url')

export interface AssertionMoment {
  /** Whole seconds since 1970. */
  readonly iat: number
  /** A UUID v4 of this one assertion. */
  readonly id: string
}

/** Now, and an id that nothing else has. */
export function assertionMoment(wallMs: number): AssertionMoment {
  return { iat: Math.floor(wallMs / 1000), id: randomUUID() }
}

/**
 * A statement of the running process for one HTTP request: `1.` and a compact JWS (reference: runtime-auth, 3). It names no
 * destination and has no end, so it must not be kept, shown, or sent twice.
 *
 * @throws FirstPartyAuthError `assertion_failed` when it would be longer than 8,192 bytes.
 */
export function mintAssertion(key: RuntimeKey, payload: string): string {
  const signed = `${PROTECTED}.${Buffer.from(payload).toString('base64url')}`
  const value = `1.${signed}.${sign(null, Buffer.from(signed), key.privateKey).toString('base64url')}`
  if (value.length <= MAX_ASSERTION_BYTES) return value
  throw new FirstPartyAuthError('assertion_failed', 'failed to sign runtime assertion', {
    data: { limit: MAX_ASSERTION_BYTES },
  })
}
