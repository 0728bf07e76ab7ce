import { createHash } from 'node:crypto'

const DIGITS = 12

/** First 12 lower-case hex digits of SHA-1 over the UTF-8 bytes (reference: identity-and-names, 2). A label, not a secret. */
export function shortDigest(text: string): string {
  return createHash('sha1').update(text, 'utf8').digest('hex').slice(0, DIGITS)
}

/**
 * The `<h>` in a scoped namespace. Only the id goes in, so it survives restart, resume, fork and reordering.
 *
 * @example
 * ```ts
 * environmentHash('enva') // '4398a80ccd8f'
 * ```
 */
export function environmentHash(environment: string): string {
  return shortDigest(environment)
}
