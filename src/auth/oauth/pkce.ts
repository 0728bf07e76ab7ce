import { createHash, randomBytes } from 'node:crypto'

/** Proof that whoever redeems a code is who asked for it (RFC 7636), by S256 alone. */
export interface Pkce {
  readonly verifier: string
  readonly challenge: string
}

export function newPkce(): Pkce {
  const verifier = randomText()
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** 256 random bits in base64url: a verifier, or a state. */
export function randomText(): string {
  return randomBytes(32).toString('base64url')
}
