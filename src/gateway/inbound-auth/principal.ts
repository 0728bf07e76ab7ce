import { createHash } from 'node:crypto'

/**
 * Stands for a subject of an issuer wherever something is kept for it: the same for every token of theirs, and of no use to
 * find out either. 192 bits of SHA-256 over both, unambiguously joined.
 */
export function principalId(issuer: string, subject: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest()
  return `oauth-${digest.subarray(0, 24).toString('hex')}`
}
