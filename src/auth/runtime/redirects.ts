import { RedirectRefusedError } from '../../errors.js'
import type { AuthRedirects } from './connection-auth.js'

const MAX_REDIRECTS = 10

export interface RedirectFacts {
  readonly status: number
  readonly location: string | undefined
  readonly from: string
  /** Redirects that were followed already. */
  readonly hops: number
  readonly policy: AuthRedirects
}

/**
 * Where a redirected request of a backend client goes on: with `stop` nowhere; else 307 and 308 within the origin, at most
 * ten in a row, so that account, body and credential never leave it. Source: reference, runtime-auth 6.2 and 14;
 * known-quirks 66 and 67.
 *
 * @throws RedirectRefusedError which names only the origin of the target.
 */
export function backendRedirect({ status, location, from, hops, policy }: RedirectFacts): string {
  const target = location !== undefined && URL.canParse(location, from) ? new URL(location, from) : undefined
  const origin = target === undefined || target.origin === 'null' ? '(an unreadable location)' : target.origin
  const refuse = (reason: string) =>
    new RedirectRefusedError(origin, reason, { place: new URL(from).origin, data: { status } })
  if (policy === 'stop') throw refuse(`a request with an assertion is never redirected (HTTP ${status})`)
  if (status !== 307 && status !== 308) throw refuse(`HTTP ${status} does not keep method and body`)
  if (target === undefined) throw refuse('the location is missing or unreadable')
  if (target.origin !== new URL(from).origin) throw refuse('account and body never leave their origin')
  if (hops >= MAX_REDIRECTS) throw refuse(`more than ${MAX_REDIRECTS} redirects in a row`)
  target.username = ''
  target.password = ''
  return target.href
}
