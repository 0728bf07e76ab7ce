import { OAuthError } from '../../errors.js'
import type { ClientIdentity } from '../store/credential.js'
import { dpopSigner } from './dpop.js'
import { endpoint } from './endpoint.js'
import { isFields, textOf } from './fields.js'
import { exchange, formPost, type OAuthHttp, placeOf, refuseRedirect } from './http.js'
import { errorFields, refusal } from './refusal.js'
import { clientAssertion } from './signed-assertion.js'

export interface TokenRequest {
  readonly http: OAuthHttp
  readonly url: string
  /** Whose endpoint it is: a client's signed assertion is for nobody else. */
  readonly issuer: string
  readonly client: ClientIdentity
  /** `grant_type` and what belongs to it; the client is added. */
  readonly fields: ReadonlyMap<string, string>
  /** The tokens are to be bound to it. */
  readonly dpopKey?: string | undefined
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

export interface TokenAnswer {
  readonly accessToken: string
  /** What it is bound to; absent for a Bearer token. */
  readonly dpopKey?: string
  /** Milliseconds since 1970; absent where the server does not say. */
  readonly expiresAt?: number
  readonly refreshToken?: string
  /** Whom it was given to, as far as the answer says. */
  readonly subject?: string
  /** Absent: those that were asked for. */
  readonly scopes?: readonly string[]
}

/** Beyond this a number of seconds is a mistake, and would overflow dates. */
const LONGEST_LIFE = 10 * 365 * 24 * 3600
/** Answers after which the same request is refused for ever. */
const PERMANENT = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client', 'unsupported_grant_type'])
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const SECRET_FIELDS = [
  'refresh_token',
  'code',
  'code_verifier',
  'client_secret',
  'assertion',
  'client_assertion',
  'subject_token',
]

/**
 * Asks for a token (RFC 6749, 4.1.3 and 6). Follows no redirect.
 *
 * @throws OAuthError `oauth_token_refused` (`data.permanent`, `data.error`, `data.status`), `oauth_invalid_answer`,
 * `oauth_unreachable`; RedirectRefusedError
 */
export async function requestToken(request: TokenRequest): Promise<TokenAnswer> {
  const { http, client, dpopKey, timeoutMs, signal } = request
  const url = endpoint(request.url, 'token endpoint')
  const { fields, headers } = withClient(client, request.issuer, request.fields)
  const asked = Date.now()
  const send = (nonce?: string) => {
    const proof = dpopKey === undefined ? [] : [['DPoP', dpopSigner(dpopKey)({ method: 'POST', url, nonce })] as const]
    return exchange(http, formPost(url, fields, [...headers, ...proof]), { timeoutMs, signal })
  }
  let answer = await send()
  // It has not looked at the grant: the same one is sent with what it wants in the proof, once.
  if (errorFields(answer.json).error === 'use_dpop_nonce' && answer.nonce !== undefined)
    answer = await send(answer.nonce)
  refuseRedirect(answer, url)
  const { error } = errorFields(answer.json)
  const secrets = SECRET_FIELDS.map((name) => fields.get(name) ?? '').concat(client.secret ?? '')
  if (answer.status < 200 || answer.status > 299 || error !== undefined) {
    const permanent = error !== undefined && PERMANENT.has(error)
    throw refusal('oauth_token_refused', 'gave no token', url, answer, { permanent, secrets })
  }
  return readToken(answer.json, { url, asked, dpopKey })
}

/** A form, and the headers that go with it, by which the client shows who it is. */
export function withClient(client: ClientIdentity, issuer: string, given: ReadonlyMap<string, string>) {
  const fields = new Map(given)
  const { id, secret = '', method } = client
  if (method === 'client_secret_basic') {
    const pair = `${formEncoded(id)}:${formEncoded(secret)}`
    const authorization = ['Authorization', `Basic ${Buffer.from(pair).toString('base64')}`] as const
    return { fields, headers: [authorization] }
  }
  if (method === 'private_key_jwt') {
    fields.set('client_assertion_type', ASSERTION_TYPE)
    fields.set('client_assertion', clientAssertion(secret, id, issuer))
  }
  fields.set('client_id', id)
  if (method === 'client_secret_post') fields.set('client_secret', secret)
  return { fields, headers: [] }
}

/** RFC 6749, 2.3.1. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

interface Asked {
  readonly url: string
  /** Milliseconds since 1970. */
  readonly asked: number
  readonly dpopKey: string | undefined
}

function readToken(json: unknown, { url, asked, dpopKey }: Asked): TokenAnswer {
  const place = placeOf(url)
  const refuse = (why: string) => new OAuthError('oauth_invalid_answer', `${place} ${why}`, { place })
  if (!isFields(json)) throw refuse('answered with something that is no JSON object')
  const accessToken = textOf(json, 'access_token')
  if (accessToken === undefined) throw refuse('answered without an access token')
  if (!/^[\x21-\x7e]+$/.test(accessToken)) throw refuse('answered with an access token that no header can carry')
  const type = textOf(json, 'token_type')?.toLowerCase()
  const isBound = type === 'dpop' && dpopKey !== undefined
  if (type !== undefined && type !== 'bearer' && !isBound)
    throw refuse('answered with a token of a type that was not asked for')
  const expiresAt = expiry(json.expires_in, asked)
  const refreshToken = textOf(json, 'refresh_token')
  const scope = textOf(json, 'scope')
  const subject = subjectOf(json, accessToken)
  return {
    accessToken,
    ...(isBound && { dpopKey }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(subject !== undefined && { subject }),
    ...(scope !== undefined && { scopes: scopeList(scope) }),
  }
}

/** Of the ID token, else of an access token that is a JWT (RFC 9068): what came straight from the token endpoint is its word. */
function subjectOf(json: Readonly<Record<string, unknown>>, accessToken: string): string | undefined {
  for (const token of [json.id_token, accessToken]) {
    const subject = typeof token === 'string' ? readSubject(token) : undefined
    if (subject !== undefined) return subject
  }
  return undefined
}

function readSubject(token: string): string | undefined {
  const [, claims = '', ...rest] = token.split('.')
  if (rest.length !== 1) return undefined
  try {
    const read: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
    return isFields(read) ? textOf(read, 'sub') : undefined
  } catch {
    // It only looked like one.
    return undefined
  }
}

/** Some servers write the number as a text. Counted from when it was asked for: never too long. */
function expiry(value: unknown, asked: number): number | undefined {
  const seconds = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return undefined
  return asked + Math.min(seconds, LONGEST_LIFE) * 1000
}

/** Space-separated scopes, without repetitions. */
export function scopeList(scope: string): readonly string[] {
  return [...new Set(scope.split(/\s+/).filter((each) => each !== ''))]
}
