import { ReeveError } from '../../errors.js'
import type { HeaderField } from '../header-field.js'
import type { ConnectionAuth } from './connection-auth.js'

/** A session that could not be ended on its server: told once, by the server's name. */
export interface AbandonedSession {
  readonly server: string
  readonly reason: string
}

export interface SessionEnd {
  readonly auth: ConnectionAuth
  /** The server's name for people. */
  readonly server: string
  readonly url: string
  /** Sends the DELETE with these headers beside those of the session; resolves with the status. */
  readonly send: (headers: readonly HeaderField[], limit: AbortSignal) => Promise<number>
  readonly limit: AbortSignal
}

/**
 * Ends a session of a replaced or signed-out credential with its own last valid auth, and closes that auth for good. What
 * can't be ended so is returned as abandoned; another credential is never used for it. Source: reference, runtime-auth 14;
 * known-quirks 58.
 */
export async function endSession({
  auth,
  server,
  url,
  send,
  limit,
}: SessionEnd): Promise<AbandonedSession | undefined> {
  try {
    const authorization = await auth.authorizeEnd(url)
    if (authorization.kind === 'refused') return { server, reason: authorization.error.code }
    if (limit.aborted) return { server, reason: 'time limit' }
    const status = await send(authorization.headers, limit)
    // A server that does not let sessions be ended by clients says 405, and one that forgot it 404.
    if ((status >= 200 && status <= 299) || status === 404 || status === 405) return undefined
    return { server, reason: `HTTP ${status}` }
  } catch (error) {
    return {
      server,
      reason: limit.aborted ? 'time limit' : error instanceof ReeveError ? error.code : 'transport failed',
    }
  } finally {
    auth.close()
  }
}
