import { OAuthError } from '../../errors.js'
import type { ClientAuthMethod, ClientIdentity } from '../store/credential.js'
import { isFields, textOf } from './fields.js'
import { exchange, type OAuthHttp, placeOf, refuseRedirect } from './http.js'
import type { AuthorizationServer } from './metadata.js'
import { refusal } from './refusal.js'

/** What the user or the embedding program knows of the client beforehand. */
export interface ClientSettings {
  /** Registered beforehand; an https URL is that of a client ID metadata document. */
  readonly id?: string
  readonly secret?: string
  /** Instead of a secret: a private key in PEM, which signs an assertion for each request. */
  readonly privateKey?: string
  /** A metadata document that describes this client, for authorization servers that take such. */
  readonly documentUrl?: string
  /** For dynamic registration. Default: `Reeve`. */
  readonly name?: string
}

export interface IdentityRequest {
  readonly http: OAuthHttp
  readonly server: AuthorizationServer
  readonly settings: ClientSettings
  readonly redirectUri: string
  readonly scope: string | undefined
  /** Of an earlier login at the same issuer. */
  readonly known: ClientIdentity | undefined
  readonly signal?: AbortSignal | undefined
}

const REGISTRATION_TIME = 30_000

/**
 * As whom we speak with an authorization server: what is configured for it, else a client ID metadata document where it
 * takes one, else an earlier registration with the same redirect URI, else a new one (MCP 2025-11-25, authorization:
 * client registration approaches).
 *
 * @throws OAuthError `oauth_client_unknown` when none of these is possible, `oauth_registration_failed`
 */
export async function identifyClient(request: IdentityRequest): Promise<ClientIdentity> {
  const { server, settings, redirectUri, known } = request
  const id = settings.id?.trim()
  if (id) return configuredClient(id, settings, server)
  if (server.takesDocuments && settings.documentUrl !== undefined)
    return { id: settings.documentUrl, method: 'none', kind: 'document' }
  if (known?.kind === 'registered' && known.redirectUri === redirectUri && !isOver(known)) return known
  if (server.registrationEndpoint === undefined) {
    const text = `${placeOf(server.issuer)} registers no clients by itself: register one there, and configure its client id`
    throw new OAuthError('oauth_client_unknown', text, { place: placeOf(server.issuer) })
  }
  return register(request, server.registrationEndpoint)
}

/** As somebody registered it, or as its document says, which an id that is an https URL names. */
export function configuredClient(
  id: string,
  { secret, privateKey }: Pick<ClientSettings, 'secret' | 'privateKey'>,
  server: AuthorizationServer,
): ClientIdentity {
  if (privateKey !== undefined) return { id, kind: 'configured', method: 'private_key_jwt', secret: privateKey }
  const isDocument = /^https:\/\/[^/]+\/./.test(id) && secret === undefined
  if (isDocument) return { id, method: 'none', kind: 'document' }
  return {
    id,
    kind: 'configured',
    method: secret === undefined ? 'none' : secretMethod(server.tokenAuthMethods),
    ...(secret !== undefined && { secret }),
  }
}

function isOver({ secretExpiresAt }: ClientIdentity): boolean {
  return secretExpiresAt !== undefined && secretExpiresAt <= Date.now()
}

async function register(request: IdentityRequest, url: string): Promise<ClientIdentity> {
  const { http, server, settings, redirectUri, scope, signal } = request
  const wanted = wantedMethod(server.tokenAuthMethods)
  const body = {
    client_name: settings.name ?? 'Reeve',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: wanted,
    application_type: 'native',
    ...(scope !== undefined && { scope }),
  }
  const answer = await exchange(
    http,
    {
      method: 'POST',
      url,
      headers: [
        ['Content-Type', 'application/json'],
        ['Accept', 'application/json'],
      ],
      body: JSON.stringify(body),
    },
    { timeoutMs: REGISTRATION_TIME, signal },
  )
  refuseRedirect(answer, url)
  const { json } = answer
  const id = isFields(json) ? textOf(json, 'client_id') : undefined
  if (answer.status < 200 || answer.status > 299 || !isFields(json) || id === undefined) {
    throw refusal('oauth_registration_failed', 'registered no client', url, answer)
  }
  const secret = textOf(json, 'client_secret')
  const ends = json.client_secret_expires_at
  return {
    id,
    kind: 'registered',
    redirectUri,
    method: grantedMethod(textOf(json, 'token_endpoint_auth_method'), wanted, secret),
    ...(secret !== undefined && { secret }),
    ...(secret !== undefined && typeof ends === 'number' && ends > 0 && { secretExpiresAt: ends * 1000 }),
  }
}

/** A program on a user's machine keeps no secret from that user: none, where that is enough. */
function wantedMethod(supported: readonly string[] | undefined): ClientAuthMethod {
  if (supported === undefined || supported.includes('none')) return 'none'
  return secretMethod(supported)
}

function secretMethod(supported: readonly string[] | undefined): ClientAuthMethod {
  if (supported === undefined || supported.includes('client_secret_basic')) return 'client_secret_basic'
  return supported.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic'
}

function grantedMethod(
  said: string | undefined,
  wanted: ClientAuthMethod,
  secret: string | undefined,
): ClientAuthMethod {
  if (secret === undefined) return 'none'
  if (said === 'client_secret_basic' || said === 'client_secret_post' || said === 'none') return said
  return wanted === 'none' ? 'client_secret_basic' : wanted
}
