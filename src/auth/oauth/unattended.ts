import { randomUUID } from 'node:crypto'
import { OAuthError } from '../../errors.js'
import type { ClientIdentity, CredentialOwner, StoredCredential } from '../store/credential.js'
import type { CredentialStore, SaveReport } from '../store/store.js'
import { type ClientSettings, configuredClient } from './client-identity.js'
import { discover } from './discovery.js'
import { endpoint } from './endpoint.js'
import { isFields, textOf } from './fields.js'
import { exchange, formPost, type OAuthHttp, placeOf, refuseRedirect } from './http.js'
import type { AuthorizationServer } from './metadata.js'
import { probe } from './probe.js'
import { refusal } from './refusal.js'
import { chooseScopes } from './scopes.js'
import { requestToken, type TokenAnswer } from './token-endpoint.js'
import { bearerChallenge } from './www-authenticate.js'

/** How a program logs in by itself. */
export type UnattendedGrant =
  /** As itself, by its secret or its private key (RFC 6749, 4.4). The login renews itself. */
  | { readonly type: 'client_credentials' }
  /** By a token of the platform that it runs on, asked for with the issuer as its audience (RFC 7523, 2.1). */
  | { readonly type: 'workload_identity'; readonly assertion: (issuer: string) => string | Promise<string> }
  /** For a user of an enterprise, by an ID token of its identity provider (ID-JAG). */
  | { readonly type: 'enterprise'; readonly idToken: string; readonly provider: IdentityProvider }

export interface IdentityProvider {
  readonly tokenEndpoint: string
  /** As which the identity provider knows us. */
  readonly clientId: string
}

export interface UnattendedOptions {
  readonly owner: CredentialOwner
  readonly http: OAuthHttp
  readonly store: CredentialStore
  readonly client: ClientSettings & { readonly id: string }
  readonly grant: UnattendedGrant
  readonly scopes?: readonly string[]
  readonly resource?: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly challenge?: string
  readonly signal?: AbortSignal
}

/** Milliseconds for each request for a token. */
const TOKEN_TIME = 30_000
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'

/**
 * Logs in without a user. What an authorization server refuses is not tried in another way.
 *
 * @throws as `discover` and `requestToken`; ConfigError for an unusable key; CredentialStoreError
 */
export async function loginUnattended(
  options: UnattendedOptions,
): Promise<SaveReport & { readonly credential: StoredCredential }> {
  const { owner, http, store, headers = [], signal } = options
  const challenge =
    options.challenge === undefined
      ? await probe(http, owner.url, headers, signal)
      : bearerChallenge([options.challenge])
  const { resource: published, authorizationServer: server } = await discover({
    http,
    serverUrl: owner.url,
    challenge,
    signal,
  })
  const resource = options.resource ?? published?.resource
  const { scopes } = chooseScopes({
    explicit: options.scopes,
    challenged: challenge?.scope,
    published: published?.scopes,
  })
  const client = configuredClient(options.client.id, options.client, server)
  const token = await granted(options, { server, client, resource, scopes })
  const { grant } = options
  const credential: StoredCredential = Object.freeze({
    ...owner,
    issuer: server.issuer,
    loginId: randomUUID(),
    loggedInAt: Date.now(),
    client,
    tokenEndpoint: server.tokenEndpoint,
    ...(resource !== undefined && { resource }),
    grant: grant.type === 'client_credentials' ? 'client_credentials' : 'jwt_bearer',
    ...token,
    scopes: token.scopes ?? scopes,
  })
  return { credential, ...(await store.save(credential)) }
}

interface Wanted {
  readonly server: AuthorizationServer
  readonly client: ClientIdentity
  readonly resource: string | undefined
  readonly scopes: readonly string[]
}

async function granted(options: UnattendedOptions, wanted: Wanted): Promise<TokenAnswer> {
  const { grant, http, signal } = options
  const { server, client, resource, scopes } = wanted
  const fields = new Map<string, string>()
  if (grant.type === 'client_credentials') fields.set('grant_type', 'client_credentials')
  else {
    fields.set('grant_type', JWT_BEARER)
    fields.set(
      'assertion',
      grant.type === 'enterprise' ? await identityGrant(options, grant, wanted) : await grant.assertion(server.issuer),
    )
  }
  if (scopes.length > 0) fields.set('scope', scopes.join(' '))
  if (resource !== undefined) fields.set('resource', resource)
  const { tokenEndpoint: url, issuer } = server
  return requestToken({ http, url, issuer, client, fields, timeoutMs: TOKEN_TIME, signal })
}

/** The identity provider's word for the user, meant for the authorization server and this resource alone (RFC 8693). */
async function identityGrant(
  { http, owner, signal }: UnattendedOptions,
  { idToken, provider }: Extract<UnattendedGrant, { type: 'enterprise' }>,
  { server, resource, scopes }: Wanted,
): Promise<string> {
  const url = endpoint(provider.tokenEndpoint, "identity provider's token endpoint")
  const fields = new Map([
    ['grant_type', TOKEN_EXCHANGE],
    ['requested_token_type', ID_JAG],
    ['subject_token', idToken],
    ['subject_token_type', ID_TOKEN],
    ['audience', server.issuer],
    ['resource', resource ?? owner.url],
    ['client_id', provider.clientId],
  ])
  if (scopes.length > 0) fields.set('scope', scopes.join(' '))
  const answer = await exchange(http, formPost(url, fields), { timeoutMs: TOKEN_TIME, signal })
  refuseRedirect(answer, url)
  const assertion = isFields(answer.json) ? textOf(answer.json, 'access_token') : undefined
  if (answer.status < 200 || answer.status > 299)
    throw refusal('oauth_token_refused', 'gave no identity assertion', url, answer, { secrets: [idToken] })
  if (assertion !== undefined) return assertion
  throw new OAuthError('oauth_invalid_answer', `${placeOf(url)} answered without an identity assertion`, {
    place: placeOf(url),
  })
}
