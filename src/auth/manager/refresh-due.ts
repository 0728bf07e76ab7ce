import { readClaims } from '../sources/claims.js'
import type { Credential } from '../sources/credential.js'

const BEFORE_EXPIRY_MS = 5 * 60_000
const OLDEST_MS = 8 * 24 * 60 * 60_000

/**
 * Whether a stored session wants renewing before it is used: its token says when it ends and that is 5 min or less away,
 * else its last refresh is older than 8 days. Source: reference, auth 4, "Proactive refresh".
 */
export function isRefreshDue(credential: Credential, wallMs: number): boolean {
  if (credential.kind !== 'chatgpt') return false
  const { expiresAt } = readClaims(credential.accessToken)
  if (expiresAt !== undefined) return expiresAt <= wallMs + BEFORE_EXPIRY_MS
  return credential.lastRefresh !== undefined && credential.lastRefresh < wallMs - OLDEST_MS
}
