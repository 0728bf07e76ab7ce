import { randomUUID } from 'node:crypto'
import { CredentialStoreError, OAuthError } from '../../errors.js'
import type { ClientIdentity, CredentialOwner, StoredCredential } from '../store/credential.js'
import type { CredentialStore, SaveReport } from '../store/store.js'
import { readCallback } from './callback.js'
import { type ClientSettings, identifyClient } from './client-identity.js'
import { type Discovery, discover } from './discovery.js'
import { newDpopKey } from './dpop.js'
import { type OAuthHttp, placeOf } from './http.js'
import { newPkce, type Pkce, randomText } from './pkce.js'
import { probe } from './probe.js'
import { chooseScopes, type ScopeChoice, widenScopes } from './scopes.js'
import { requestToken, scopeList, type TokenAnswer } from './token-endpoint.js'
import { type BearerChallenge, bearerChallenge } from './www-authenticate.js'

export interface LoginOptions {
  readonly owner: CredentialOwner
  readonly http: OAuthHttp
  readonly store: CredentialStore
  /** Where the browser is sent back to, exactly. */
  readonly redirectUri: string
  readonly client?: ClientSettings
  /** Asked for instead of what the server names; an empty list asks for none in particular. */
  readonly scopes?: readonly string[]
  /** Instead of what the server publishes. */
  readonly resource?: string
  /** Headers that the configuration gives for this server, to be let through to it. */
  readonly headers?: readonly (readonly [string, string])[]
  /** The `WWW-Authenticate` of a refused operation. Absent: the server is asked for one. */
  readonly challenge?: string
  readonly signal?: AbortSignal
}

export interface LoggedIn extends SaveReport {
  readonly credential: StoredCredential
}

/** A login that waits for its user. */
export interface PendingLogin {
  /** For a browser. */
  readonly authorizationUrl: string
  readonly redirectUri: string
  readonly issuer: string
  readonly scopes: readonly string[]
  /** The scopes were found in metadata; a server that refuses them may be asked without. */
  readonly scopesDiscovered: boolean
  /**
   * Takes the URL that the browser was sent back to, or was pasted. A wrong one leaves the login waiting; the right one is
   * taken once. What was stored before is replaced by what works, and not before it does.
   *
   * @throws OAuthError `oauth_callback_refused`, `oauth_denied`, and as `requestToken`; CredentialStoreError
   */
  complete(callback: string, signal?: AbortSignal): Promise<LoggedIn>
}

/** Milliseconds for the code's exchange. */
const TOKEN_TIME = 30_000

/**
 * Finds out who gives tokens for a server, becomes a client there, and prepares the authorization code flow.
 *
 * @throws OAuthError as `discover`, `identifyClient` and `widenScopes`
 */
export async function beginLogin(options: LoginOptions): Promise<PendingLogin> {
  const { owner, http, store, redirectUri, client = {}, signal } = options
  const challenge = await challengeOf(options)
  const discovery = await discover({ http, serverUrl: owner.url, challenge, signal })
  const server = discovery.authorizationServer
  await store.prepare()
  const earlier = earlierLogin(store, owner)
  const before = earlier?.issuer === server.issuer ? earlier : undefined
  const choice = scopesFor(options, challenge, discovery, before)
  const scope = choice.scopes.length === 0 ? undefined : choice.scopes.join(' ')
  // It may be the registration that the server has forgotten.
  const known = before?.needsLogin === true ? undefined : before?.client
  const identity = await identifyClient({ http, server, settings: client, redirectUri, scope, known, signal })
  const isBound = server.bindsTokens && (challenge?.dpop === true || discovery.resource?.wantsDpop === true)
  const dpopKey = isBound ? newDpopKey() : undefined
  return pending({ options, discovery, choice, identity, dpopKey, pkce: newPkce(), state: randomText() })
}

/** What was stored for this owner. A damaged file holds nothing that could be used, and is set aside by the save. */
function earlierLogin(store: CredentialStore, owner: CredentialOwner): StoredCredential | undefined {
  try {
    return store.find(owner)
  } catch (error) {
    if (error instanceof CredentialStoreError && error.code === 'credentials_invalid') return undefined
    throw error
  }
}

function challengeOf(options: LoginOptions): Promise<BearerChallenge | undefined> | BearerChallenge {
  const { owner, http, headers = [], challenge, signal } = options
  return challenge === undefined ? probe(http, owner.url, headers, signal) : bearerChallenge([challenge])
}

function scopesFor(
  { owner, scopes }: LoginOptions,
  challenge: BearerChallenge | undefined,
  { resource, authorizationServer }: Discovery,
  before: StoredCredential | undefined,
): ScopeChoice {
  const wanted = challenge?.error === 'insufficient_scope' ? scopeList(challenge.scope ?? '') : before?.wantedScopes
  if (scopes === undefined && wanted !== undefined && before !== undefined)
    return { scopes: widenScopes(before.scopes, wanted, placeOf(owner.url)), discovered: false }
  return chooseScopes({
    explicit: scopes,
    challenged: challenge?.scope,
    published: resource?.scopes,
    offered: authorizationServer.scopes,
  })
}

interface Prepared {
  readonly options: LoginOptions
  readonly discovery: Discovery
  readonly choice: ScopeChoice
  readonly identity: ClientIdentity
  readonly dpopKey: string | undefined
  readonly pkce: Pkce
  readonly state: string
}

function pending(prepared: Prepared): PendingLogin {
  const { options, discovery, choice, state } = prepared
  const { issuer, sendsIssuer } = discovery.authorizationServer
  let taken = false
  return Object.freeze({
    authorizationUrl: authorizationUrl(prepared),
    redirectUri: options.redirectUri,
    issuer,
    scopes: choice.scopes,
    scopesDiscovered: choice.discovered,
    async complete(callback: string, signal?: AbortSignal): Promise<LoggedIn> {
      const code = readCallback(callback, { state, issuer, sendsIssuer })
      if (taken) throw new OAuthError('oauth_callback_refused', 'this callback was taken already')
      taken = true
      const token = await redeem(prepared, code, signal)
      const credential = credentialOf(prepared, token)
      return { credential, ...(await options.store.save(credential)) }
    },
  })
}

function authorizationUrl({ options, discovery, choice, identity, pkce, state }: Prepared): string {
  const url = new URL(discovery.authorizationServer.authorizationEndpoint)
  url.hash = ''
  const resource = resourceOf(options, discovery)
  const fields: Readonly<Record<string, string | undefined>> = {
    response_type: 'code',
    client_id: identity.id,
    redirect_uri: options.redirectUri,
    state,
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    scope: choice.scopes.length === 0 ? undefined : choice.scopes.join(' '),
    resource,
    // OpenID Connect gives no refresh token for it otherwise.
    prompt: choice.scopes.includes('offline_access') ? 'consent' : undefined,
  }
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

/** The resource indicator (RFC 8707): as configured, else as published; servers that publish none know none. */
function resourceOf(options: LoginOptions, { resource }: Discovery): string | undefined {
  const configured = options.resource?.trim()
  return configured ? configured : resource?.resource
}

function redeem(prepared: Prepared, code: string, signal: AbortSignal | undefined): Promise<TokenAnswer> {
  const { options, discovery, identity, dpopKey, pkce } = prepared
  const resource = resourceOf(options, discovery)
  const fields = new Map([
    ['grant_type', 'authorization_code'],
    ['code', code],
    ['redirect_uri', options.redirectUri],
    ['code_verifier', pkce.verifier],
  ])
  if (resource !== undefined) fields.set('resource', resource)
  const { tokenEndpoint: url, issuer } = discovery.authorizationServer
  return requestToken({
    http: options.http,
    url,
    issuer,
    client: identity,
    fields,
    dpopKey,
    timeoutMs: TOKEN_TIME,
    signal,
  })
}

function credentialOf({ options, discovery, choice, identity }: Prepared, token: TokenAnswer): StoredCredential {
  const { issuer, tokenEndpoint, revocationEndpoint } = discovery.authorizationServer
  const resource = resourceOf(options, discovery)
  const { server, environment, url, principal } = options.owner
  return Object.freeze({
    server,
    environment,
    url,
    principal,
    issuer,
    loginId: randomUUID(),
    loggedInAt: Date.now(),
    client: identity,
    tokenEndpoint,
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    ...(resource !== undefined && { resource }),
    grant: 'authorization_code' as const,
    ...token,
    scopes: token.scopes ?? choice.scopes,
  })
}
