import { OAuthError } from '../../errors.js'
import { DPOP_ALGORITHM } from './dpop.js'
import { endpoint } from './endpoint.js'
import { type Fields, isFields, textOf, textsOf } from './fields.js'
import { placeOf } from './http.js'

/** What a server says of itself as a protected resource (RFC 9728). */
export interface ProtectedResource {
  /** As published: it goes into requests byte for byte. */
  readonly resource: string
  /** At least one. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[] | undefined
  /** It takes only tokens that are bound to a key (RFC 9449). */
  readonly wantsDpop: boolean
}

/** What an authorization server says of itself (RFC 8414, OpenID Connect Discovery). */
export interface AuthorizationServer {
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly registrationEndpoint?: string
  readonly revocationEndpoint?: string
  readonly scopes?: readonly string[]
  readonly tokenAuthMethods?: readonly string[]
  /** It takes URLs of client ID metadata documents. */
  readonly takesDocuments: boolean
  /** It promises `iss` in every callback (RFC 9207). */
  readonly sendsIssuer: boolean
  /** It binds tokens to a key of ours. */
  readonly bindsTokens: boolean
}

/**
 * Undefined where the document is no such metadata. `serverUrl` must lie within the resource: at its origin, at its path
 * or below.
 *
 * @throws OAuthError `oauth_resource_mismatch`
 */
export function readProtectedResource(json: unknown, serverUrl: string, from: string): ProtectedResource | undefined {
  if (!isFields(json)) return undefined
  const resource = textOf(json, 'resource')
  const issuers = textsOf(json, 'authorization_servers')
  if (resource === undefined) return undefined
  if (!isWithin(serverUrl, resource)) {
    const text = `${placeOf(from)} speaks of the resource ${placeOf(resource)}, which is not the server at ${placeOf(serverUrl)}`
    throw new OAuthError('oauth_resource_mismatch', text, { place: placeOf(from) })
  }
  if (issuers === undefined || issuers.length === 0) return undefined
  return {
    resource,
    issuers,
    scopes: textsOf(json, 'scopes_supported'),
    wantsDpop: json.dpop_bound_access_tokens_required === true,
  }
}

function isWithin(serverUrl: string, resource: string): boolean {
  if (!URL.canParse(resource)) return false
  const [server, whole] = [new URL(serverUrl), new URL(resource)]
  if (server.origin !== whole.origin) return false
  return withSlash(server.pathname).startsWith(withSlash(whole.pathname))
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

export interface IssuerExpectation {
  /** Absent for servers older than RFC 9728, which name none. */
  readonly issuer: string | undefined
  readonly from: string
}

/**
 * Undefined where the document is no such metadata.
 *
 * @throws OAuthError `oauth_issuer_mismatch`, `oauth_insecure_endpoint`, and `oauth_invalid_metadata` where the server does
 * not say that it takes PKCE with S256, which newer revisions demand
 */
export function readAuthorizationServer(json: unknown, expected: IssuerExpectation): AuthorizationServer | undefined {
  if (!isFields(json)) return undefined
  const authorization = textOf(json, 'authorization_endpoint')
  const token = textOf(json, 'token_endpoint')
  if (authorization === undefined || token === undefined) return undefined
  const issuer = checkedIssuer(json, expected)
  checkPkce(json, expected)
  const registration = textOf(json, 'registration_endpoint')
  const revocation = textOf(json, 'revocation_endpoint')
  const scopes = textsOf(json, 'scopes_supported')
  const tokenAuthMethods = textsOf(json, 'token_endpoint_auth_methods_supported')
  return {
    issuer,
    authorizationEndpoint: endpoint(authorization, 'authorization endpoint'),
    tokenEndpoint: endpoint(token, 'token endpoint'),
    ...(registration && { registrationEndpoint: endpoint(registration, 'registration endpoint') }),
    ...(revocation && { revocationEndpoint: endpoint(revocation, 'revocation endpoint') }),
    ...(scopes && { scopes }),
    ...(tokenAuthMethods && { tokenAuthMethods }),
    takesDocuments: json.client_id_metadata_document_supported === true,
    bindsTokens: textsOf(json, 'dpop_signing_alg_values_supported')?.includes(DPOP_ALGORITHM) ?? false,
    sendsIssuer: json.authorization_response_iss_parameter_supported === true,
  }
}

/** The same text, code point by code point (RFC 8414, 3.3): a look-alike is another server. */
function checkedIssuer(json: Fields, { issuer, from }: IssuerExpectation): string {
  const published = textOf(json, 'issuer')
  if (issuer === undefined) return published ?? new URL(from).origin
  if (published === issuer) return published
  const text =
    published === undefined
      ? `${placeOf(from)} names no issuer`
      : `${placeOf(from)} names the issuer ${placeOf(published)}, where ${placeOf(issuer)} was asked`
  throw new OAuthError('oauth_issuer_mismatch', text, { place: placeOf(from) })
}

function checkPkce(json: Fields, { issuer, from }: IssuerExpectation): void {
  const methods = textsOf(json, 'code_challenge_methods_supported')
  const isOld = issuer === undefined
  if (methods?.includes('S256') ?? isOld) return
  const text = `${placeOf(from)} does not say that it takes PKCE with S256`
  throw new OAuthError('oauth_invalid_metadata', text, { place: placeOf(from) })
}
