import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { authorizationMetadata } from './authorization-metadata.js'
import { codeRedirect } from './code-redirect.js'

export interface StandInOptions {
  /** Seconds; null: the answer does not say. */
  readonly lifetime?: number | null
  readonly scopes?: readonly string[]
  /** Who is at the browser: told in an ID token, and by the resource's tool. */
  readonly subject?: string
  /** Over the metadata that it publishes. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Over the metadata of the resource. */
  readonly resource?: Readonly<Record<string, unknown>>
  /** Runs before a refresh counts; a promise holds it up. `by`: the process, where `X-Test-Process` says. What rejects drops the connection, and nothing has changed. */
  readonly beforeRefresh?: (form: URLSearchParams, by: number) => Promise<void> | void
  /** Answers any path instead. */
  readonly answer?: (path: string) => Answer | undefined
  /** Answers the token endpoint instead. */
  readonly token?: (form: URLSearchParams, request: IncomingMessage) => Answer | undefined
}

export interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Family {
  revoked: boolean
}
interface Grant {
  readonly client: string
  readonly scope: string
  readonly family: Family
  readonly subject?: string | undefined
}

/**
 * An authorization server on this machine that is strict where others are: codes are taken once, with their verifier and
 * redirect URI; refresh tokens are rotated, and one that is used twice ends every token that came of that login. A resource
 * that takes its tokens is at `/mcp`.
 */
export class AuthorizationServer implements AsyncDisposable {
  readonly counts = { refreshes: 0, reuses: 0, codes: 0, registrations: 0, refused: 0 }
  readonly requests: {
    readonly method: string
    readonly path: string
    readonly body: string
    readonly authorization: string | undefined
  }[] = []
  options: StandInOptions
  readonly #server: Server
  readonly #codes = new Map<string, { readonly params: URLSearchParams; readonly client: string }>()
  readonly #clients = new Map<string, string>()
  readonly #refresh = new Map<string, Grant & { used: boolean }>()
  readonly #access = new Map<string, Grant & { readonly endsAt: number }>()

  private constructor(options: StandInOptions) {
    this.options = options
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy())
    })
  }

  static async listen(options: StandInOptions = {}): Promise<AuthorizationServer> {
    const made = new AuthorizationServer(options)
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve))
    return made
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get resourceUrl(): string {
    return `${this.origin}/mcp`
  }

  /** A login that did not need a browser. */
  issue(
    client = 'client-0',
    scope = '',
  ): { readonly access_token: string; readonly refresh_token: string; readonly expires_in?: number } {
    return this.#issue({ client, scope, family: { revoked: false } })
  }

  /** True while the resource takes it. */
  takes(token: string): boolean {
    const grant = this.#access.get(token)
    return grant !== undefined && !grant.family.revoked && Date.now() < grant.endsAt
  }

  /** The client that a token was issued to, whether it lives or not. */
  clientOf(token: string): string | undefined {
    return this.#clients.get(token)
  }

  /** Every token that was ever given out. */
  get issued(): readonly string[] {
    return [...this.#clients.keys(), ...this.#refresh.keys()]
  }

  /** The access tokens that the resource takes now. */
  get alive(): readonly string[] {
    return [...this.#access.keys()].filter((token) => this.takes(token))
  }

  /** Ends an access token as time would. */
  expire(token: string): void {
    this.#access.delete(token)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    const url = new URL(request.url ?? '/', this.origin)
    const { authorization } = request.headers
    this.requests.push({ method: request.method ?? '', path: `${url.pathname}${url.search}`, body, authorization })
    const { status, body: text, headers = {} } = await this.#route(url, body, request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(text)
  }

  #route(url: URL, body: string, request: IncomingMessage): Answer | Promise<Answer> {
    const other = this.options.answer?.(url.pathname)
    if (other !== undefined) return other
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json(200, {
          resource: this.resourceUrl,
          authorization_servers: [this.origin],
          ...(this.options.scopes && { scopes_supported: this.options.scopes }),
          ...this.options.resource,
        })
      case '/.well-known/oauth-authorization-server':
        return json(200, {
          ...authorizationMetadata(this.origin),
          revocation_endpoint: `${this.origin}/revoke`,
          ...this.options.metadata,
        })
      case '/register':
        this.counts.registrations += 1
        return json(201, { ...JSON.parse(body), client_id: `client-${this.counts.registrations}` })
      case '/authorize':
        return this.#authorize(url)
      case '/token':
        return this.#token(new URLSearchParams(body), request)
      case '/revoke':
        return this.#revoke(new URLSearchParams(body))
      case '/mcp':
        return this.#resource(body, request)
      default:
        return json(404, { error: 'not_found' })
    }
  }

  /** Its user always says yes. */
  #authorize(url: URL): Answer {
    const code = randomBytes(12).toString('hex')
    const client = url.searchParams.get('client_id') ?? ''
    this.#codes.set(code, { params: url.searchParams, client })
    return codeRedirect(url.searchParams, { code, issuer: this.origin })
  }

  async #token(form: URLSearchParams, request: IncomingMessage): Promise<Answer> {
    const other = this.options.token?.(form, request)
    if (other !== undefined) return other
    return form.get('grant_type') === 'refresh_token'
      ? this.#rotate(form, Number(request.headers['x-test-process']))
      : this.#redeem(form)
  }

  #redeem(form: URLSearchParams): Answer {
    const known = this.#codes.get(form.get('code') ?? '')
    this.#codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const fits =
      known?.params.get('code_challenge') === challenge &&
      known.params.get('redirect_uri') === form.get('redirect_uri') &&
      known.client === form.get('client_id')
    if (!fits || known === undefined) return json(400, { error: 'invalid_grant' })
    this.counts.codes += 1
    const scope = known.params.get('scope') ?? ''
    const { subject } = this.options
    return json(200, this.#issue({ client: known.client, scope, family: { revoked: false }, subject }))
  }

  async #rotate(form: URLSearchParams, by: number): Promise<Answer> {
    await this.options.beforeRefresh?.(form, by)
    const grant = this.#refresh.get(form.get('refresh_token') ?? '')
    if (grant?.used === true) {
      this.counts.reuses += 1
      grant.family.revoked = true
    }
    if (grant === undefined || grant.used || grant.family.revoked) {
      this.counts.refused += 1
      return json(400, { error: 'invalid_grant', error_description: 'refresh token is not valid' })
    }
    grant.used = true
    this.counts.refreshes += 1
    return json(200, this.#issue(grant))
  }

  #revoke(form: URLSearchParams): Answer {
    const grant = this.#refresh.get(form.get('token') ?? '')
    if (grant !== undefined) grant.family.revoked = true
    return json(200, {})
  }

  #issue({ client, scope, family, subject }: Grant) {
    const { lifetime = 3600 } = this.options
    const access = randomBytes(16).toString('hex')
    const refresh = randomBytes(16).toString('hex')
    this.#access.set(access, { client, scope, family, subject, endsAt: Date.now() + (lifetime ?? 3600) * 1000 })
    this.#clients.set(access, client)
    this.#refresh.set(refresh, { client, scope, family, subject, used: false })
    return {
      access_token: access,
      token_type: 'Bearer',
      refresh_token: refresh,
      ...(subject !== undefined && { id_token: idToken({ iss: this.origin, sub: subject, aud: client }) }),
      ...(lifetime !== null && { expires_in: lifetime }),
      ...(scope !== '' && { scope }),
    }
  }

  #resource(body: string, request: IncomingMessage): Answer {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    if (!this.takes(token)) {
      const metadata = `${this.origin}/.well-known/oauth-protected-resource/mcp`
      return { ...json(401, {}), headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` } }
    }
    if (request.method !== 'POST') return json(405, {})
    const { id, method } = JSON.parse(body)
    if (id === undefined) return { status: 202, body: '' }
    const results: Readonly<Record<string, unknown>> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'guarded', version: '1' },
      },
      'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: this.#access.get(token)?.subject ?? 'you' }] },
    }
    const result = results[method]
    return result === undefined
      ? json(200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
      : json(200, { jsonrpc: '2.0', id, result })
  }
}

/** Nobody here looks at its signature. */
function idToken(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'ES256' })}.${part(claims)}.${Buffer.alloc(64).toString('base64url')}`
}

function json(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) }
}
