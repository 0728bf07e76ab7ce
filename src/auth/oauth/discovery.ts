import { OAuthError } from '../../errors.js'
import { endpoint } from './endpoint.js'
import { type ExchangeLimits, exchange, type OAuthAnswer, type OAuthHttp, placeOf } from './http.js'
import {
  type AuthorizationServer,
  type ProtectedResource,
  readAuthorizationServer,
  readProtectedResource,
} from './metadata.js'
import type { BearerChallenge } from './www-authenticate.js'

export interface Discovery {
  /** Absent for servers older than RFC 9728. */
  readonly resource?: ProtectedResource
  readonly authorizationServer: AuthorizationServer
}

export interface DiscoveryOptions {
  readonly http: OAuthHttp
  readonly serverUrl: string
  /** What the server said when it refused a request; absent where it did not. */
  readonly challenge: BearerChallenge | undefined
  readonly signal?: AbortSignal | undefined
}

/** Milliseconds for each document (reference: auth, 1.1). */
const DOCUMENT_TIME = 5_000
const MAX_REDIRECTS = 3

/**
 * Who gives out tokens for a server: by its metadata as a protected resource (RFC 9728), else, as revision 2025-03-26 had
 * it, by its own origin, with the paths of that revision where nothing is published.
 *
 * @throws OAuthError `oauth_unsupported` when nobody does; what is published and can't be trusted, as `metadata.ts` says
 */
export async function discover(options: DiscoveryOptions): Promise<Discovery> {
  const resource = await findResource(options)
  if (resource === undefined) return { authorizationServer: await findOldServer(options) }
  const [issuer = ''] = resource.issuers
  const authorizationServer = await findServer(options, endpoint(issuer, 'issuer'))
  return { resource, authorizationServer }
}

async function findResource(options: DiscoveryOptions): Promise<ProtectedResource | undefined> {
  const { serverUrl, challenge } = options
  const { origin, pathname } = new URL(serverUrl)
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`
  const path = pathname.replace(/\/$/, '')
  const named = challenge?.resourceMetadata
  const candidates = [
    ...(named === undefined ? [] : [endpoint(new URL(named, serverUrl).href, 'resource metadata URL')]),
    ...(path === '' ? [] : [`${wellKnown}${path}`]),
    wellKnown,
  ]
  for (const url of new Set(candidates)) {
    const json = await document(options, url)
    const found = readProtectedResource(json, serverUrl, url)
    if (found !== undefined) return found
  }
  return undefined
}

async function findServer(options: DiscoveryOptions, issuer: string): Promise<AuthorizationServer> {
  for (const from of serverDocuments(issuer)) {
    const found = readAuthorizationServer(await document(options, from), { issuer, from })
    if (found !== undefined) return found
  }
  const place = placeOf(issuer)
  throw new OAuthError('oauth_invalid_metadata', `the authorization server ${place} publishes no metadata`, { place })
}

/** RFC 8414 before OpenID Connect, the path inserted before it is appended. */
export function serverDocuments(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const [oauth, openid] = ['.well-known/oauth-authorization-server', '.well-known/openid-configuration']
  if (path === '') return [`${origin}/${oauth}`, `${origin}/${openid}`]
  return [
    `${origin}/${oauth}${path}`,
    `${origin}/${openid}${path}`,
    `${origin}${path}/${openid}`,
    `${origin}${path}/${oauth}`,
  ]
}

/** The server is its own authorization server. The default paths are tried only where it wants credentials. */
async function findOldServer(options: DiscoveryOptions): Promise<AuthorizationServer> {
  const { serverUrl } = options
  const { origin } = new URL(serverUrl)
  for (const from of new Set([...serverDocuments(serverUrl), ...serverDocuments(origin)])) {
    const found = readAuthorizationServer(await document(options, from), { issuer: undefined, from })
    if (found !== undefined) return found
  }
  if (options.challenge === undefined) {
    const place = placeOf(serverUrl)
    const text = `${place} asks for no login, and names nobody who gives tokens for it`
    throw new OAuthError('oauth_unsupported', text, { place })
  }
  return {
    issuer: origin,
    authorizationEndpoint: endpoint(`${origin}/authorize`, 'authorization endpoint'),
    tokenEndpoint: endpoint(`${origin}/token`, 'token endpoint'),
    registrationEndpoint: endpoint(`${origin}/register`, 'registration endpoint'),
    takesDocuments: false,
    sendsIssuer: false,
    bindsTokens: false,
  }
}

/** The JSON of a document; undefined where there is none, whatever the reason: the next candidate is asked then. */
async function document(options: DiscoveryOptions, url: string): Promise<unknown> {
  let from = url
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const answer = await fetched(options, from)
    if (answer === undefined) return undefined
    const next = redirectOf(answer, from)
    if (next === undefined) return answer.status === 200 ? answer.json : undefined
    from = next
  }
  return undefined
}

async function fetched({ http, signal }: DiscoveryOptions, url: string): Promise<OAuthAnswer | undefined> {
  const limits: ExchangeLimits = { timeoutMs: DOCUMENT_TIME, signal }
  try {
    return await exchange(http, { method: 'GET', url, headers: HEADERS }, limits)
  } catch (error) {
    if (error instanceof OAuthError) return undefined
    throw error
  }
}

const HEADERS = [
  ['Accept', 'application/json'],
  ['MCP-Protocol-Version', '2025-11-25'],
] as const

/** Documents hold no secret: they may move within their origin. */
function redirectOf({ status, location }: OAuthAnswer, from: string): string | undefined {
  if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, from)) return undefined
  const target = new URL(location, from)
  return target.origin === new URL(from).origin ? target.href : undefined
}
