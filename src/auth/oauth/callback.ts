import { timingSafeEqual } from 'node:crypto'
import { OAuthError } from '../../errors.js'
import { shown } from './refusal.js'

export interface CallbackExpectation {
  readonly state: string
  readonly issuer: string
  /** The authorization server promised `iss`: a callback without it is not its own. */
  readonly sendsIssuer: boolean
}

/**
 * The code of a callback: a whole URL or its query, as the browser was sent to it or as a user pasted it. State and issuer
 * are looked at before anything else in it counts (RFC 9207, 2.4).
 *
 * @throws OAuthError `oauth_callback_refused` when it is not of this login, `oauth_denied` when there is no code in it
 */
export function readCallback(text: string, expected: CallbackExpectation): string {
  const query = queryOf(text.trim())
  const refuse = (why: string) =>
    new OAuthError('oauth_callback_refused', `this is not the callback of this login: ${why}`)
  for (const name of ['state', 'code', 'iss', 'error']) {
    if (query.getAll(name).length > 1) throw refuse(`it has several values of '${name}'`)
  }
  const state = query.get('state')
  if (state === null) throw refuse('it has no state')
  if (!isSame(state, expected.state)) throw refuse('its state is that of another one')
  const issuer = query.get('iss')
  if (issuer === null && expected.sendsIssuer) throw refuse('it does not say who issued it, as was promised')
  if (issuer !== null && issuer !== expected.issuer)
    throw refuse(`'${shown(issuer)}' issued it, not '${expected.issuer}'`)
  // A code wins over an error beside it (reference: auth, 1.4).
  const code = query.get('code')
  if (code !== null && code !== '') return code
  throw denied(query, refuse)
}

function denied(query: URLSearchParams, refuse: (why: string) => OAuthError): OAuthError {
  const error = query.get('error')
  const description = query.get('error_description')
  if (error === null && description === null) return refuse('it has neither a code nor an error')
  const why = [error, description].filter((part) => part !== null).map(shown)
  return new OAuthError('oauth_denied', `the authorization server gave no code: ${why.join(': ')}`, {
    data: { error: error === null ? null : shown(error) },
  })
}

function queryOf(text: string): URLSearchParams {
  if (URL.canParse(text)) return new URL(text).searchParams
  return new URLSearchParams(text.slice(text.indexOf('?') + 1))
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
