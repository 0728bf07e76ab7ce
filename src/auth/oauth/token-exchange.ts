import type { TokenExchangeSettings } from '../../config/index.js'
import { AuthRequiredError, ConfigError, OAuthError, ReeveError } from '../../errors.js'
import type { ClientIdentity } from '../store/credential.js'
import type { OAuthHttp } from './http.js'
import { type IssuerMetadata, issuerMetadata } from './issuer-metadata.js'
import type { SubjectToken, SubjectTokens } from './subject-tokens.js'
import { requestToken, type TokenAnswer } from './token-endpoint.js'

/** For whom a token of which server is wanted. */
export interface ExchangeWish {
  readonly principal: string
  /** Names the server in errors. */
  readonly label: string
  /** The server's URL: the resource that is asked for where the settings name none. */
  readonly url: string
  readonly settings: TokenExchangeSettings
  /** Refused by the server: another one is wanted. */
  readonly rejected?: string | undefined
}

export interface TokenExchangesOptions {
  readonly subjects: SubjectTokens
  /** Of this host: what a principal came with is shown to its issuer alone, never to an executor on the way. */
  readonly http: OAuthHttp
  /** Where `client_secret_env` is looked up. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const TOKEN_TIME = 15_000
/** A token is exchanged anew so many milliseconds before it ends. */
const SKEW = 30_000
/** Of a token that does not say how long it is good. */
const UNKNOWN_LIFE = 60_000
/** A refusal is repeated for so long without asking again. */
const REFUSED = 5_000
const METADATA_LIFE = 600_000
const KEPT = 4096

interface Exchanged {
  readonly accessToken: string
  readonly endsAt: number
}

interface Refused {
  readonly error: unknown
  readonly subject: string
  readonly until: number
}

/**
 * Tokens of upstream servers, had for the tokens that principals came with (RFC 8693). Kept for each principal and server
 * until they end; one exchange at a time for each. What was refused is not tried in another way.
 */
export class TokenExchanges {
  readonly #options: TokenExchangesOptions
  readonly #now: () => number
  readonly #tokens = new Map<string, Exchanged>()
  readonly #refused = new Map<string, Refused>()
  readonly #running = new Map<string, Promise<string>>()
  readonly #metadata = new Map<string, { readonly found: Promise<IssuerMetadata>; readonly until: number }>()

  constructor(options: TokenExchangesOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /**
   * @throws AuthRequiredError the principal came with no token, or its token has ended; OAuthError what the authorization
   * server refused, or did not answer; ConfigError for a client secret that is not there
   */
  async token(wish: ExchangeWish): Promise<string> {
    const slot = slotOf(wish)
    const known = this.#tokens.get(slot)
    if (known !== undefined && known.accessToken !== wish.rejected && this.#now() < known.endsAt)
      return known.accessToken
    const running = this.#running.get(slot) ?? this.#begin(slot, wish)
    return running
  }

  #begin(slot: string, wish: ExchangeWish): Promise<string> {
    const running = this.#exchange(slot, wish).finally(() => this.#running.delete(slot))
    this.#running.set(slot, running)
    return running
  }

  async #exchange(slot: string, wish: ExchangeWish): Promise<string> {
    const subject = this.#options.subjects.get(wish.principal, this.#now())
    if (subject === undefined) throw nothingToExchange(wish.label)
    const refused = this.#refused.get(slot)
    if (refused !== undefined && refused.subject === subject.token && this.#now() < refused.until) throw refused.error
    try {
      const answer = await this.#request(wish, subject)
      // Whoever gives the same token back would have us pass on what is meant for us.
      if (answer.accessToken === subject.token) throw sameToken(wish.label)
      this.#keep(slot, { accessToken: answer.accessToken, endsAt: this.#endOf(answer) })
      return answer.accessToken
    } catch (error) {
      if (isAboutSubject(error)) this.#options.subjects.refuse(wish.principal, subject.token)
      if (error instanceof ReeveError)
        keep(this.#refused, slot, { error, subject: subject.token, until: this.#now() + REFUSED })
      throw error
    }
  }

  async #request(wish: ExchangeWish, subject: SubjectToken): Promise<TokenAnswer> {
    const { settings } = wish
    const { issuer } = subject
    const metadata = settings.tokenEndpoint === undefined ? await this.#metadataOf(issuer) : undefined
    const url = settings.tokenEndpoint ?? metadata?.tokenEndpoint
    if (url === undefined)
      throw new OAuthError('oauth_invalid_metadata', `${issuer} names no token endpoint`, { place: issuer })
    return requestToken({
      http: this.#options.http,
      url,
      issuer,
      client: this.#clientOf(wish, metadata),
      fields: fieldsOf(wish, subject),
      timeoutMs: TOKEN_TIME,
    })
  }

  #clientOf({ label, settings }: ExchangeWish, metadata: IssuerMetadata | undefined): ClientIdentity {
    const { clientId: id, clientSecretEnv: variable } = settings
    if (variable === undefined) return { id, method: 'none', kind: 'configured' }
    const secret = this.#options.env[variable]
    if (secret === undefined || secret.trim() === '') {
      const text = `environment variable ${variable} is not set: MCP server '${label}' exchanges tokens with it`
      throw new ConfigError('client_secret', text, { place: `${label} oauth.token_exchange.client_secret_env` })
    }
    const methods = metadata?.tokenAuthMethods ?? []
    const posts = methods.includes('client_secret_post') && !methods.includes('client_secret_basic')
    return { id, secret, method: posts ? 'client_secret_post' : 'client_secret_basic', kind: 'configured' }
  }

  #metadataOf(issuer: string): Promise<IssuerMetadata> {
    const known = this.#metadata.get(issuer)
    if (known !== undefined && this.#now() < known.until) return known.found
    const found = issuerMetadata(this.#options.http, issuer)
    this.#metadata.set(issuer, { found, until: this.#now() + METADATA_LIFE })
    found.catch(() => this.#metadata.delete(issuer))
    return found
  }

  #endOf({ expiresAt }: TokenAnswer): number {
    return expiresAt === undefined ? this.#now() + UNKNOWN_LIFE : expiresAt - SKEW
  }

  #keep(slot: string, exchanged: Exchanged): void {
    this.#refused.delete(slot)
    keep(this.#tokens, slot, exchanged)
  }
}

/** RFC 8693, 2.2.2, and what many servers answer instead. */
const SUBJECT_FAULTS: ReadonlySet<unknown> = new Set(['invalid_request', 'invalid_grant', 'invalid_token'])

/** The token that was to be exchanged is none that the issuer takes, as one that was revoked. */
function isAboutSubject(error: unknown): boolean {
  return error instanceof OAuthError && error.code === 'oauth_token_refused' && SUBJECT_FAULTS.has(error.data?.error)
}

/** The oldest go first. */
function keep<T>(all: Map<string, T>, slot: string, one: T): void {
  all.delete(slot)
  all.set(slot, one)
  const [oldest] = all.size > KEPT ? all.keys() : []
  if (oldest !== undefined) all.delete(oldest)
}

function fieldsOf({ url, settings }: ExchangeWish, subject: SubjectToken): ReadonlyMap<string, string> {
  const { audience, resource, scopes } = settings
  const target = resource ?? (audience === undefined ? url : undefined)
  return new Map([
    ['grant_type', GRANT],
    ['subject_token', subject.token],
    ['subject_token_type', ACCESS_TOKEN],
    ['requested_token_type', ACCESS_TOKEN],
    ...(audience === undefined ? [] : [['audience', audience] as const]),
    ...(target === undefined ? [] : [['resource', target] as const]),
    ...(scopes === undefined || scopes.length === 0 ? [] : [['scope', scopes.join(' ')] as const]),
  ])
}

function slotOf({ principal, url, settings }: ExchangeWish): string {
  const { audience, resource, scopes, tokenEndpoint, clientId } = settings
  return JSON.stringify([principal, url, audience, resource, scopes, tokenEndpoint, clientId])
}

function nothingToExchange(label: string): AuthRequiredError {
  return new AuthRequiredError(
    `MCP server '${label}' is used with exchanged tokens, and whoever calls came with none`,
    {
      place: label,
    },
  )
}

function sameToken(label: string): OAuthError {
  const text = `the token for MCP server '${label}' is the one that was to be exchanged: it is not passed on`
  return new OAuthError('oauth_invalid_answer', text, { place: label })
}
