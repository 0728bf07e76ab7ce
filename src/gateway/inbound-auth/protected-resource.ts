import type { IncomingMessage } from 'node:http'
import type { OAuthHttp } from '../../auth/index.js'
import { ConfigError } from '../../errors.js'
import type { JsonRpcMessage } from '../../protocol/index.js'
import type { Refusal } from '../http/answers.js'
import type { Admission } from '../http/authentication.js'
import { type AccessToken, checkAccessToken, InvalidTokenError, type TokenRules } from './access-token.js'
import { allowedAlgorithms } from './algorithms.js'
import { type BearerChallenge, challengeHeader } from './challenge.js'
import { KeySet } from './key-set.js'
import { MethodScopes } from './method-scopes.js'
import { DEFAULT_CLOCK_SKEW, DEFAULT_SCOPES, type ResourceServerOptions } from './options.js'
import { presentedToken } from './presented-token.js'
import { principalId } from './principal.js'

export interface ResourceHost {
  readonly http: OAuthHttp
  readonly onWarning: (warning: Error) => void
  /** The URL that the gateway listens on, once it does. */
  readonly url: () => string
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * The gateway as a protected resource: tells clients who gives tokens for it, checks what they bring, and says what is
 * missing (MCP authorization, 2025-11-25 and 2026-07-28; RFC 6750; RFC 9728).
 */
export class ProtectedResource {
  readonly #options: ResourceServerOptions
  readonly #host: ResourceHost
  readonly #scopes: MethodScopes
  readonly #keys: KeySet
  readonly #algorithms: readonly string[]

  /** @throws ConfigError for options that can't be, or are unsafe */
  constructor(options: ResourceServerOptions, host: ResourceHost) {
    this.#options = options
    this.#host = host
    const { issuer, jwksUrl, scopes = DEFAULT_SCOPES, requiredScopes, keySet, resource } = options
    requireUrl(issuer, 'issuer')
    if (resource !== undefined) requireUrl(resource, 'resource')
    this.#algorithms = allowedAlgorithms(options.algorithms)
    this.#scopes = new MethodScopes(scopes, requiredScopes)
    this.#keys = new KeySet({
      issuer,
      http: options.http ?? host.http,
      onWarning: (warning) => host.onWarning(warning),
      ...(jwksUrl !== undefined && { url: jwksUrl }),
      ...(keySet && { limits: keySet }),
    })
  }

  /** The identifier that tokens are asked for with. */
  get resource(): string {
    return this.#options.resource ?? this.#host.url()
  }

  get metadataUrl(): string {
    const { origin, pathname } = new URL(this.resource)
    return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`
  }

  /** Whether the metadata is asked for: at the root, or with the path of the endpoint or of the resource (RFC 9728, 3.1). */
  isMetadataPath(path: string): boolean {
    if (!path.startsWith(WELL_KNOWN)) return false
    const rest = path.slice(WELL_KNOWN.length)
    return ['', '/', new URL(this.resource).pathname, new URL(this.#host.url()).pathname].includes(rest)
  }

  get metadata() {
    return {
      resource: this.resource,
      authorization_servers: [this.#options.issuer],
      scopes_supported: [...this.#scopes.all],
      bearer_methods_supported: ['header'],
      resource_name: 'Reeve gateway',
    }
  }

  /** Who sends a request, by its token; why nobody does, otherwise. */
  async admit(request: IncomingMessage): Promise<Admission | Refusal> {
    const presented = presentedToken(request)
    switch (presented.kind) {
      case 'nothing':
        return this.#unauthorized('Unauthorized: log in at the authorization server', {})
      case 'malformed':
        return this.#malformed(presented.why)
      case 'invalid':
        return this.#invalid('it is no bearer token')
      case 'token':
        return this.#check(presented.token)
    }
  }

  /** Looks at what the issuer publishes, for those who start or examine a gateway. Throws what is wrong with it. */
  async check(): Promise<void> {
    await this.#keys.check()
  }

  async #check(token: string): Promise<Admission | Refusal> {
    let checked: AccessToken
    try {
      checked = await checkAccessToken(token, this.#rules())
    } catch (error) {
      if (error instanceof InvalidTokenError) return this.#invalid(error.message)
      this.#host.onWarning(error instanceof Error ? error : new Error(String(error)))
      return { status: 503, message: 'Tokens can not be checked now: try again', headers: { 'retry-after': '5' } }
    }
    const { issuer, subject, expiresAt, scopes } = checked
    const missing = this.#missing(scopes, this.#scopes.required)
    if (missing !== undefined) return missing
    const id = principalId(issuer, subject)
    this.#options.onToken?.(id, { token, issuer, expiresAt })
    return {
      principal: Object.freeze({ id }),
      over: { at: expiresAt + this.#skew, now: this.#options.now ?? Date.now },
      refuses: (messages: readonly JsonRpcMessage[]) => this.#missing(scopes, this.#scopes.neededBy(messages)),
    }
  }

  get #skew(): number {
    return this.#options.clockSkewMs ?? DEFAULT_CLOCK_SKEW
  }

  #rules(): TokenRules {
    const { issuer, audience = [this.resource] } = this.#options
    const { now = Date.now } = this.#options
    return { issuer, audience, algorithms: this.#algorithms, clockSkewMs: this.#skew, keys: this.#keys, now }
  }

  /**
   * 403 that names all that the operation needs, and with it those of ours that the token has: clients of 2025 ask for
   * exactly what they are told, and would lose them.
   */
  #missing(granted: ReadonlySet<string>, needed: readonly string[]): Refusal | undefined {
    if (needed.every((scope) => granted.has(scope))) return undefined
    const kept = this.#scopes.all.filter((scope) => granted.has(scope))
    const scopes = [...new Set([...kept, ...needed])]
    const description = `it needs ${needed.join(' ')}`
    return {
      status: 403,
      message: `Forbidden: the token lacks a scope: ${description}`,
      headers: this.#challenge({ error: 'insufficient_scope', scopes, description }),
    }
  }

  #unauthorized(message: string, challenge: Omit<BearerChallenge, 'metadataUrl' | 'scopes'>): Refusal {
    const scopes = this.#options.initialScopes ?? this.#scopes.all
    return { status: 401, message, headers: this.#challenge({ ...challenge, scopes }) }
  }

  #invalid(why: string): Refusal {
    return this.#unauthorized(`Unauthorized: the token is not taken: ${why}`, {
      error: 'invalid_token',
      description: why,
    })
  }

  #malformed(why: string): Refusal {
    const headers = this.#challenge({ error: 'invalid_request', description: why })
    return { status: 400, message: `Bad Request: ${why}`, headers }
  }

  #challenge(challenge: Omit<BearerChallenge, 'metadataUrl'>): Readonly<Record<string, string>> {
    return { 'www-authenticate': challengeHeader({ ...challenge, metadataUrl: this.metadataUrl }) }
  }
}

function requireUrl(text: string, member: 'issuer' | 'resource'): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (isHttp && url?.hash === '' && url.username === '' && url.password === '') return
  throw new ConfigError('invalid_url', `the ${member} must be an http(s) URL without fragment and user`, {
    place: `gateway.auth.${member}`,
  })
}
