import { followedRedirect } from '../../auth/index.js'
import type { HttpResponse } from '../../environments/index.js'

/**
 * `stop` refuses every redirect: for requests whose credential may be used only once. `stop-credentials` refuses those of
 * requests with a configured header or a credential (reference: connections, 10.8).
 */
export type RedirectPolicy = 'same-origin' | 'stop' | 'stop-credentials'

/** What a policy means for one request. */
export type EffectiveRedirectPolicy = Exclude<RedirectPolicy, 'stop-credentials'>

export const MAX_REDIRECTS = 5

export function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399 && status !== 304
}

/** Where a redirected operation goes on, at most five in a row; see `followedRedirect`. Throws `RedirectRefusedError`. */
export function redirectTarget(
  response: Pick<HttpResponse, 'status' | 'header'>,
  from: string,
  hops: number,
  policy: EffectiveRedirectPolicy,
): string {
  const location = response.header('location')
  return followedRedirect({ status: response.status, location, from, hops, policy, limit: MAX_REDIRECTS })
}
