import { createHash, timingSafeEqual } from 'node:crypto'
import { type TokenRules, verifyToken } from './signed-token.js'

/** Who may connect over WebSocket (reference: executor-protocol, 2.2). */
export type ExecutorAuthentication =
  | { readonly kind: 'none' }
  /** The SHA-256 of the one token that is accepted: 32 bytes. */
  | { readonly kind: 'capability-token'; readonly sha256: Uint8Array }
  | ({ readonly kind: 'signed-bearer-token' } & TokenRules)

/** Why a client is not let in; undefined when it is. The reason never holds what was sent. */
export function refusal(authentication: ExecutorAuthentication, header: string | undefined): string | undefined {
  if (authentication.kind === 'none') return undefined
  const token = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  if (token === undefined) return 'missing websocket bearer token'
  if (authentication.kind === 'signed-bearer-token') return verifyToken(token, authentication)
  const given = createHash('sha256').update(token).digest()
  return timingSafeEqual(given, authentication.sha256) ? undefined : 'invalid websocket bearer token'
}
