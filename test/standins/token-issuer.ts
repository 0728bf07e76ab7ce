import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { authorizationMetadata } from './authorization-metadata.js'
import { codeRedirect } from './code-redirect.js'

interface Reply {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
}

/** What one token says otherwise than most do. */
export interface TokenWish {
  readonly claims?: JWTPayload
  /** Claims that are left out. */
  readonly without?: readonly string[]
  readonly header?: Readonly<Record<string, unknown>>
  /** Seconds; may be over. */
  readonly lifetime?: number
  readonly key?: SigningKey
}

/**
 * An authorization server on this machine whose tokens are JWTs: discovery, keys that rotate, registration, a user who
 * always says yes, the code grant with PKCE, refreshes, and token exchange.
 */
export class TokenIssuer implements AsyncDisposable {
  readonly requests: { readonly path: string; readonly form: URLSearchParams }[] = []
  /** Who is logged in at the browser. */
  user = 'ann'
  /** The scopes that it gives at most; undefined: what is asked for. */
  grants: readonly string[] | undefined
  /** Seconds that tokens live. */
  lifetime = 3600
  /** Answers a path in its place; a promise that never settles hangs. */
  readonly answers = new Map<string, (response: ServerResponse) => void>()
  /** Answers a token exchange instead. */
  exchange: ((form: URLSearchParams) => Reply | Promise<Reply>) | undefined
  readonly #server: Server
  readonly #codes = new Map<string, { readonly params: URLSearchParams; readonly user: string }>()
  readonly #refresh = new Map<string, { readonly user: string; readonly scope: string; readonly resource: string }>()
  #keys: SigningKey[]

  private constructor(key: SigningKey) {
    this.#keys = [key]
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy())
    })
  }

  static async listen(): Promise<TokenIssuer> {
    const made = new TokenIssuer(await newKey('key-1'))
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve))
    return made
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get key(): SigningKey {
    const key = this.#keys[0]
    if (key === undefined) throw new TypeError('there is no key')
    return key
  }

  /** How often a path was asked for. */
  asked(path: string): number {
    return this.requests.filter((request) => request.path === path).length
  }

  /** Signs with a new key from now on; the old ones are no longer published. */
  async rotate(kid: string): Promise<void> {
    this.#keys = [await newKey(kid)]
  }

  /** An access token for a resource, as RFC 9068 has it. */
  token(resource: string, scope: string, wish: TokenWish = {}): Promise<string> {
    const { key = this.key, header, claims, without = [], lifetime = this.lifetime } = wish
    const now = Math.floor(Date.now() / 1000)
    const payload: JWTPayload = {
      iss: this.origin,
      sub: this.user,
      aud: resource,
      iat: now,
      exp: now + lifetime,
      jti: randomBytes(8).toString('hex'),
      scope,
      ...claims,
    }
    for (const claim of without) delete payload[claim]
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid, ...header })
      .sign(key.privateKey)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url ?? '/', this.origin)
    const text = Buffer.concat(chunks).toString('utf8')
    const isJson = request.headers['content-type']?.includes('json') === true
    const form = new URLSearchParams(isJson ? '' : text)
    this.requests.push({ path: url.pathname, form })
    const own = this.answers.get(url.pathname)
    if (own !== undefined) return own(response)
    const { status, body, headers = {} } = await this.#route(url, form, text)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }

  #route(url: URL, form: URLSearchParams, text: string): Reply | Promise<Reply> {
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        return json(200, this.#metadata())
      case '/jwks':
        return this.#publishedKeys()
      case '/register':
        return json(201, { ...JSON.parse(text), client_id: `client-${randomBytes(4).toString('hex')}` })
      case '/authorize':
        return this.#authorize(url.searchParams)
      case '/token':
        return this.#token(form)
      default:
        return json(404, { error: 'not_found' })
    }
  }

  #metadata() {
    return {
      ...authorizationMetadata(this.origin),
      jwks_uri: `${this.origin}/jwks`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    }
  }

  async #publishedKeys(): Promise<Reply> {
    const keys = this.#keys.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, use: 'sig' }))
    return json(200, { keys: await Promise.all(keys) })
  }

  #authorize(params: URLSearchParams): Reply {
    const code = randomBytes(12).toString('hex')
    this.#codes.set(code, { params, user: this.user })
    return codeRedirect(params, { code, issuer: this.origin })
  }

  async #token(form: URLSearchParams): Promise<Reply> {
    const grant = form.get('grant_type')
    if (grant === 'urn:ietf:params:oauth:grant-type:token-exchange')
      return this.exchange?.(form) ?? json(400, { error: 'unsupported_grant_type' })
    if (grant === 'refresh_token') {
      const known = this.#refresh.get(form.get('refresh_token') ?? '')
      return known === undefined ? json(400, { error: 'invalid_grant' }) : this.#issue(known)
    }
    const known = this.#codes.get(form.get('code') ?? '')
    this.#codes.delete(form.get('code') ?? '')
    const verifier = form.get('code_verifier') ?? ''
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    if (known === undefined || known.params.get('code_challenge') !== challenge)
      return json(400, { error: 'invalid_grant' })
    const scope = known.params.get('scope') ?? ''
    return this.#issue({ user: known.user, scope, resource: known.params.get('resource') ?? '' })
  }

  async #issue(login: { readonly user: string; readonly scope: string; readonly resource: string }): Promise<Reply> {
    const asked = login.scope.split(' ').filter((scope) => scope !== '')
    const scope = asked.filter((each) => this.grants?.includes(each) ?? true).join(' ')
    const refresh = randomBytes(16).toString('hex')
    this.#refresh.set(refresh, login)
    return json(200, {
      access_token: await this.token(login.resource, scope, { claims: { sub: login.user } }),
      token_type: 'Bearer',
      expires_in: this.lifetime,
      refresh_token: refresh,
      scope,
    })
  }
}

async function newKey(kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  return { kid, privateKey, publicKey }
}

export function json(status: number, value: unknown): Reply {
  return { status, body: JSON.stringify(value) }
}
