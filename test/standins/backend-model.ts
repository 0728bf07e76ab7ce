import type { KeyObject } from 'node:crypto'
import { type AccountOf, accessToken, readAssertion, readSshKey, type TokenFacts } from './backend-tokens.js'

export interface BackendRequest {
  /** Of the `Host` field, without a port. */
  readonly host: string
  readonly method: string
  readonly path: string
  /** Every field in wire order, names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

export interface BackendReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Sends nothing: ends the socket, or leaves it silent. `open`: sends what there is, and does not end. */
  readonly fault?: 'drop' | 'silent' | 'open'
}

/** A request, with what the model found in it. */
export interface SeenRequest extends BackendRequest {
  /** Whose bearer or instance it carried; null: none. */
  readonly account: string | null
  readonly assertion: string | null
}

interface Instance extends AccountOf {
  readonly key: KeyObject
  readonly credential: string
}

/**
 * The first-party backend as far as its clients can see: registers keys, checks every assertion, renews and revokes tokens,
 * and holds each MCP session to the account that opened it. What an honest client never does is a violation, and told.
 */
export class BackendModel {
  readonly requests: SeenRequest[] = []
  readonly violations: string[] = []
  readonly registrations: { readonly key: string; readonly idempotencyKey: string; readonly body: string }[] = []
  readonly refreshes: { readonly reason: string | null }[] = []
  readonly revocations: string[] = []
  /** Answers of the next registrations, before the model's own; the last one repeats where `lastRepeats`. */
  registrationReplies: BackendReply[] = []
  lastRepeats = false
  /** Answers of the next token requests, and of the next others by `METHOD path`. */
  tokenReplies: BackendReply[] = []
  readonly pathReplies = new Map<string, BackendReply[]>()
  /** The same of MCP requests, by JSON-RPC method. */
  readonly rpcReplies = new Map<string, BackendReply[]>()
  /** Results of MCP requests by `path method`, for whom they are; a reply in its place is sent as it is. */
  readonly mcpResults = new Map<string, (account: string | null, body: string) => object | BackendReply>()
  /** Facts of the next renewed token; the same account by default. */
  nextToken: Partial<TokenFacts> = {}
  /** The actor of the next registrations, instead of the token's account. */
  actor: Readonly<Record<string, string>> | undefined
  #serial = 0
  #opened = 0
  readonly #tokens = new Map<string, TokenFacts & { isRevoked: boolean }>()
  readonly #refreshTokens = new Map<string, string>()
  readonly #usedRefreshTokens: string[] = []
  readonly #instances = new Map<string, Instance>()
  readonly #assertionIds = new Set<string>()
  readonly #sessions = new Map<string, { readonly account: string | null }>()

  /** Signs somebody in. */
  issue(facts: AccountOf & Partial<TokenFacts>) {
    const all = { ...facts, serial: ++this.#serial }
    const token = accessToken(all)
    const refreshToken = `refresh-${all.serial}`
    this.#tokens.set(token, { ...all, isRevoked: false })
    this.#refreshTokens.set(refreshToken, token)
    return { accessToken: token, refreshToken, accountId: facts.account, userId: facts.user }
  }

  /** Takes every token of an account back; what is sent with one afterwards is a violation. */
  revokeAccount(account: string): void {
    for (const facts of this.#tokens.values()) if (facts.account === account) facts.isRevoked = true
  }

  /** Every token that was issued, and every assertion that was seen. */
  get secrets(): readonly string[] {
    const assertions = this.requests.flatMap(({ assertion }) => assertion ?? [])
    return [...this.#tokens.keys(), ...this.#refreshTokens.keys(), ...this.#usedRefreshTokens, ...assertions]
  }

  accountOf(token: string): string | null {
    return this.#tokens.get(token)?.account ?? null
  }

  /**
   * What a request carries, without counting it: whose, whether that is revoked, and whether it is of exactly the credential
   * that is given.
   */
  inspect(headers: readonly (readonly [string, string])[], current: object | null) {
    const values = new Map(headers)
    const authorization = values.get('authorization') ?? ''
    const token = authorization.startsWith('Bearer ') ? authorization.slice(7) : undefined
    const bare = authorization.startsWith('AgentAssertion ') ? authorization.slice(15) : undefined
    const assertion = values.get('x-openai-agent-assertion') ?? bare
    const instance = assertion === undefined ? undefined : this.#instances.get(readAssertion(assertion).instance)
    const used = [token, instance?.credential].filter((one) => one !== undefined)
    const facts = used.map((one) => this.#tokens.get(one))
    const now = current !== null && 'accessToken' in current ? current.accessToken : null
    return {
      account: facts[0]?.account ?? null,
      isRevoked: facts.some((one) => one?.isRevoked === true),
      isCurrent: used.every((one) => one === now),
    }
  }

  handle(request: BackendRequest): BackendReply {
    const reply = this.#scripted(request)
    const { account, assertion } = this.#checked(request)
    this.requests.push({ ...request, account, assertion })
    if (request.path === '/agent/register') return this.#register(request, reply)
    if (reply !== undefined) return reply
    if (request.path === '/oauth/token') return this.#renew(request)
    if (request.path === '/oauth/revoke') return this.#revoke(request)
    if (request.path.endsWith('/mcp')) return this.#mcp(request, account)
    return json(200, {})
  }

  #scripted({ method, path, body }: BackendRequest): BackendReply | undefined {
    const rpc = /"method":"([^"]+)"/.exec(path.endsWith('/mcp') ? body : '')?.[1] ?? ''
    const byRpc = this.rpcReplies.get(rpc)?.shift()
    if (byRpc !== undefined) return byRpc
    if (path === '/oauth/token') return this.tokenReplies.shift()
    if (path !== '/agent/register') return this.pathReplies.get(`${method} ${path}`)?.shift()
    const isLast = this.registrationReplies.length === 1 && this.lastRepeats
    return isLast ? this.registrationReplies[0] : this.registrationReplies.shift()
  }

  // ---- what every request is held to ----

  #checked(request: BackendRequest): { account: string | null; assertion: string | null } {
    const authorization = field(request, 'authorization')
    const inOwnField = field(request, 'x-openai-agent-assertion')
    const bare = authorization?.startsWith('AgentAssertion ') ? authorization.slice(15) : null
    const assertion = inOwnField ?? bare
    const token = authorization?.startsWith('Bearer ') ? authorization.slice(7) : null
    const byToken = token === null ? null : this.#checkToken(token)
    const byAssertion = assertion?.startsWith('1.') ? this.#checkAssertion(assertion) : null
    if (byToken !== null && byAssertion !== null && byToken !== byAssertion)
      this.violations.push(`a bearer of ${byToken} beside an assertion of ${byAssertion}`)
    return { account: byAssertion ?? byToken, assertion }
  }

  #checkToken(token: string): string | null {
    const facts = this.#tokens.get(token)
    if (facts?.isRevoked) this.violations.push(`a revoked token of ${facts.account}`)
    return facts?.account ?? null
  }

  #checkAssertion(value: string): string | null {
    const { instance: id, id: assertionId, isSignedBy } = readAssertion(value)
    const instance = this.#instances.get(id)
    if (this.#assertionIds.has(assertionId)) this.violations.push('an assertion was sent twice')
    this.#assertionIds.add(assertionId)
    if (instance === undefined) {
      this.violations.push('an assertion of an unknown instance')
      return null
    }
    if (!isSignedBy(instance.key)) this.violations.push('an assertion with a wrong signature')
    if (this.#tokens.get(instance.credential)?.isRevoked)
      this.violations.push(`an assertion of a revoked credential of ${instance.account}`)
    return instance.account
  }

  // ---- endpoints ----

  #register(request: BackendRequest, reply: BackendReply | undefined): BackendReply {
    const body: { actor_auth: { credential: string }; public_key: string } = JSON.parse(request.body)
    const idempotencyKey = field(request, 'idempotency-key') ?? ''
    this.registrations.push({ key: body.public_key, idempotencyKey, body: request.body })
    if (reply !== undefined && (reply.status !== 200 || reply.body !== undefined)) return reply
    const facts = this.#tokens.get(body.actor_auth.credential)
    if (facts?.isRevoked) this.violations.push(`a registration with a revoked token of ${facts.account}`)
    const owner = facts ?? { account: 'platform', user: 'platform' }
    const id = `rti-${this.registrations.length}`
    const { account, user } = owner
    this.#instances.set(id, { account, user, key: readSshKey(body.public_key), credential: body.actor_auth.credential })
    const actor = this.actor ?? { kind: 'chatgpt', user_id: user, account_id: account }
    return json(200, { runtime_agent_instance_id: id, agent_host_id: 'host-1', actor })
  }

  #renew({ body }: BackendRequest): BackendReply {
    const { refresh_token: used, refresh_reason: reason }: Record<string, string | undefined> = JSON.parse(body)
    this.refreshes.push({ reason: reason ?? null })
    const known = used === undefined ? undefined : this.#refreshTokens.get(used)
    const facts = known === undefined ? undefined : this.#tokens.get(known)
    if (used === undefined || facts === undefined) {
      this.violations.push('a refresh token was used twice, or is unknown')
      return json(401, { error: { code: 'refresh_token_reused' } })
    }
    if (facts.isRevoked) return json(401, { error: { code: 'refresh_token_invalidated' } })
    this.#refreshTokens.delete(used)
    this.#usedRefreshTokens.push(used)
    const { account, user } = facts
    const next = this.issue({ account, user, ...this.nextToken })
    return json(200, { access_token: next.accessToken, refresh_token: next.refreshToken })
  }

  #revoke({ body }: BackendRequest): BackendReply {
    const { token = '' }: Record<string, string | undefined> = JSON.parse(body)
    const known = this.#tokens.get(this.#refreshTokens.get(token) ?? token)
    if (known !== undefined) {
      this.revocations.push(known.account)
      known.isRevoked = true
    }
    return json(200, {})
  }

  #mcp(request: BackendRequest, account: string | null): BackendReply {
    const session = field(request, 'mcp-session-id')
    const opened = session === null ? undefined : this.#sessions.get(session)
    if (opened !== undefined && opened.account !== account)
      this.violations.push(`a session of ${opened.account} used with ${account}`)
    if (request.method === 'DELETE') {
      this.#sessions.delete(session ?? '')
      return { status: 204 }
    }
    if (request.method === 'GET') return { status: 405 }
    const { id, method }: { id?: number; method?: string } = JSON.parse(request.body)
    if (id === undefined) return { status: 202 }
    const made = this.mcpResults.get(`${request.path} ${method}`)?.(account, request.body)
    if (made !== undefined && 'status' in made) return made
    if (made !== undefined) return json(200, { jsonrpc: '2.0', id, result: made })
    if (method !== 'initialize') return json(200, { jsonrpc: '2.0', id, result: resultOf(method) })
    const name = `session-${++this.#opened}`
    this.#sessions.set(name, { account })
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'b', version: '1' },
    }
    return { ...json(200, { jsonrpc: '2.0', id, result }), headers: { ...JSON_TYPE, 'mcp-session-id': name } }
  }
}

export function field({ headers }: BackendRequest, name: string): string | null {
  return headers.find(([known]) => known === name)?.[1] ?? null
}

const JSON_TYPE = { 'content-type': 'application/json' }

export function json(status: number, body: unknown): BackendReply {
  return { status, headers: JSON_TYPE, body: JSON.stringify(body) }
}

const TOOLS = [
  { name: 't', inputSchema: { type: 'object' } },
  { name: 'again', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } },
  {
    name: 'take',
    inputSchema: {
      type: 'object',
      properties: {
        file: { type: 'object', description: 'What to take.', properties: { mime_type: {}, file_name: {} } },
        files: { type: 'array', items: { type: 'object', additionalProperties: false } },
        note: { type: 'string' },
      },
    },
    _meta: { 'openai/fileParams': ['file', 'files'] },
  },
]

function resultOf(method: string | undefined): unknown {
  if (method === 'tools/list') return { tools: TOOLS }
  if (method === 'resources/read') return { contents: [] }
  return { content: [{ type: 'text', text: 'done' }] }
}
