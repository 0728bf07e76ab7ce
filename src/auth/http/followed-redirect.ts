import { RedirectRefusedError } from '../../errors.js'

export interface RedirectFacts {
  readonly status: number
  readonly location: string | undefined
  /** The URL that answered. */
  readonly from: string
  /** Redirects that were followed already. */
  readonly hops: number
  /** `stop`: no redirect of this request is followed, whatever its method and status. */
  readonly policy: 'same-origin' | 'stop'
  /** How many in a row are followed. */
  readonly limit: number
}

/**
 * Where a redirected request goes on, for every client that sends credentials: with `stop` nowhere; else 307 and 308 within
 * the origin, so that account, body and credential never leave it. Source: reference, runtime-auth 6 and 14; known-quirks
 * 55, 66 and 67.
 *
 * @throws RedirectRefusedError which names only the origin of the target.
 */
export function followedRedirect({ status, location, from, hops, policy, limit }: RedirectFacts): string {
  const target = location !== undefined && URL.canParse(location, from) ? new URL(location, from) : undefined
  const origin = target === undefined || target.origin === 'null' ? '(an unreadable location)' : target.origin
  const refuse = (reason: string) =>
    new RedirectRefusedError(origin, reason, { place: new URL(from).origin, data: { status } })
  if (policy === 'stop') throw refuse(`redirects of this request are not followed (HTTP ${status})`)
  if (status !== 307 && status !== 308) throw refuse(`HTTP ${status} does not keep method and body`)
  if (target === undefined) throw refuse('the location is missing or unreadable')
  if (target.origin !== new URL(from).origin) throw refuse('it leaves the origin; configure that URL if it is right')
  if (hops >= limit) throw refuse(`more than ${limit} redirects in a row`)
  target.username = ''
  target.password = ''
  return target.href
}
