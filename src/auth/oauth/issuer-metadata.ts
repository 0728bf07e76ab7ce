import { OAuthError } from '../../errors.js'
import { serverDocuments } from './discovery.js'
import { endpoint } from './endpoint.js'
import { isFields, textOf, textsOf } from './fields.js'
import { exchange, type OAuthAnswer, type OAuthHttp, placeOf, refuseRedirect } from './http.js'

/** What an issuer publishes for those who check its tokens, or exchange them. */
export interface IssuerMetadata {
  readonly issuer: string
  readonly keySetUrl?: string
  readonly tokenEndpoint?: string
  readonly tokenAuthMethods?: readonly string[]
}

export interface DocumentRequest {
  readonly http: OAuthHttp
  readonly url: string
  readonly signal?: AbortSignal | undefined
}

/** Milliseconds for each document. */
const DOCUMENT_TIME = 5_000
const MAX_REDIRECTS = 3

/**
 * The metadata of an issuer (RFC 8414, then OpenID Connect Discovery). Its `issuer` must be the text that was asked for,
 * letter by letter; nothing of a document that says otherwise is used. Unlike a login it needs no authorization endpoint.
 *
 * @throws OAuthError `oauth_unreachable`, `oauth_invalid_metadata`, `oauth_issuer_mismatch`, `oauth_insecure_endpoint`,
 * `oauth_invalid_answer`; RedirectRefusedError; CancelledError
 */
export async function issuerMetadata(
  http: OAuthHttp,
  issuer: string,
  signal?: AbortSignal | undefined,
): Promise<IssuerMetadata> {
  for (const url of serverDocuments(endpoint(issuer, 'issuer'))) {
    const answer = await fetched({ http, url, signal })
    if (answer.status !== 200 || !isFields(answer.json)) continue
    const published = textOf(answer.json, 'issuer')
    if (published !== issuer) throw mismatch(url, issuer, published)
    const keySetUrl = textOf(answer.json, 'jwks_uri')
    const tokenEndpoint = textOf(answer.json, 'token_endpoint')
    const tokenAuthMethods = textsOf(answer.json, 'token_endpoint_auth_methods_supported')
    return {
      issuer,
      ...(keySetUrl && { keySetUrl: endpoint(keySetUrl, 'key set URL') }),
      ...(tokenEndpoint && { tokenEndpoint: endpoint(tokenEndpoint, 'token endpoint') }),
      ...(tokenAuthMethods && { tokenAuthMethods }),
    }
  }
  const place = placeOf(issuer)
  throw new OAuthError('oauth_invalid_metadata', `the authorization server ${place} publishes no metadata`, { place })
}

/**
 * A JSON object behind a URL, of 1 MiB at most. A redirect is followed within the origin only.
 *
 * @throws OAuthError `oauth_unreachable`, `oauth_invalid_answer` (no JSON object, or too large), `oauth_insecure_endpoint`;
 * RedirectRefusedError; CancelledError
 */
export async function jsonDocument(request: DocumentRequest): Promise<Readonly<Record<string, unknown>>> {
  const url = endpoint(request.url, 'URL of the document')
  const { status, json } = await fetched({ ...request, url })
  const place = placeOf(url)
  if (status !== 200)
    throw new OAuthError('oauth_invalid_answer', `${place} answered with HTTP ${status}`, { place, data: { status } })
  if (!isFields(json))
    throw new OAuthError('oauth_invalid_answer', `${place} answered with something that is no JSON object`, { place })
  return json
}

async function fetched({ http, url, signal }: DocumentRequest): Promise<OAuthAnswer> {
  let from = url
  for (let hops = 0; ; hops += 1) {
    const headers = [['Accept', 'application/json']] as const
    const answer = await exchange(http, { method: 'GET', url: from, headers }, { timeoutMs: DOCUMENT_TIME, signal })
    const next = hops < MAX_REDIRECTS ? withinOrigin(answer, from) : undefined
    if (next === undefined) {
      refuseRedirect(answer, from)
      return answer
    }
    from = next
  }
}

function withinOrigin({ status, location }: OAuthAnswer, from: string): string | undefined {
  if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, from)) return undefined
  const target = new URL(location, from)
  return target.origin === new URL(from).origin ? target.href : undefined
}

function mismatch(url: string, issuer: string, published: string | undefined): OAuthError {
  const place = placeOf(url)
  const named = published === undefined ? 'no issuer' : `the issuer ${placeOf(published)}`
  const text = `${place} names ${named}, where ${placeOf(issuer)} was asked; they must be the same, letter by letter`
  return new OAuthError('oauth_issuer_mismatch', text, { place })
}
