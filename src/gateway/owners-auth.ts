import type { AuthManager } from '../auth/index.js'
import { LOCAL_USER } from '../threads/index.js'

/** Who is signed in to a home works for its owner alone: threads of other principals get no first-party auth. */
export function ownersAuth(
  auth: AuthManager | undefined,
  principal: string | undefined,
): { readonly auth?: AuthManager } {
  return auth !== undefined && (principal === undefined || principal === LOCAL_USER) ? { auth } : {}
}
