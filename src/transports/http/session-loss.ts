/**
 * Is this answer the way in which some servers say "no such session"? The specification wants 404 for a request that
 * carried a session id, but servers made after the SDK's examples answer 400 with one of these texts; so they do to a
 * request that needs no session, of a revision that they don't know. They refuse the request before anything looks at
 * it, so it was not carried out.
 */
export function saysSessionIsLost(status: number, error: { readonly code: number; readonly message: string }): boolean {
  return status === 400 && error.code === SERVER_ERROR && TEXTS.test(error.message)
}

const SERVER_ERROR = -32000
const TEXTS = /no valid session id|session not found|invalid (?:or expired )?session|server not initialized/i
