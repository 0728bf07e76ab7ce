import type { HttpResponse } from '../../environments/index.js'
import { RedirectRefusedError } from '../../errors.js'

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

/**
 * Where a redirected operation goes on: 307 and 308 within the origin, at most five in a row. Anything else throws
 * `RedirectRefusedError`, which names only the origin of the target. Source: reference, known-quirks 55.
 */
export function redirectTarget(
  response: HttpResponse,
  from: string,
  hops: number,
  policy: EffectiveRedirectPolicy,
): string {
  const location = response.header('location')
  const target = location !== undefined && URL.canParse(location, from) ? new URL(location, from) : undefined
  const origin = target === undefined || target.origin === 'null' ? '(an unreadable location)' : target.origin
  const refuse = (reason: string) => {
    const data = { status: response.status }
    return new RedirectRefusedError(origin, reason, { place: new URL(from).origin, data })
  }
  if (policy === 'stop') throw refuse('redirects are not followed here')
  if (response.status !== 307 && response.status !== 308) {
    throw refuse(`HTTP ${response.status} does not keep method and body`)
  }
  if (target === undefined) throw refuse('the location is missing or unreadable')
  if (target.origin !== new URL(from).origin) throw refuse('it leaves the origin; configure that URL if it is right')
  if (hops >= MAX_REDIRECTS) throw refuse(`more than ${MAX_REDIRECTS} redirects in a row`)
  target.username = ''
  target.password = ''
  return target.href
}
