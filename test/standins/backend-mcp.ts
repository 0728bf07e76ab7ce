import {
  type AuthContext,
  type AuthHttp,
  type AuthReply,
  type ConnectionAuth,
  endSession,
  transportAuth,
} from '../../src/auth/index.js'

export const MCP_URL = 'https://chatgpt.com/backend-api/test/mcp'

/** One MCP connection to the backend, as thin as it can be: a session, its operations, its end. */
export class McpConnection {
  readonly auth: ConnectionAuth
  readonly #http: AuthHttp
  readonly #url: string
  readonly #isIdempotent: boolean
  #session: string | undefined
  #id = 0

  private constructor(auth: ConnectionAuth, http: AuthHttp, options: McpOptions) {
    this.auth = auth
    this.#http = http
    this.#url = options.url ?? MCP_URL
    this.#isIdempotent = options.isIdempotent ?? false
  }

  /** Not started: the first operation is `initialize`. */
  static to(context: AuthContext, http: AuthHttp, options: McpOptions = {}): McpConnection {
    return new McpConnection(context.connect('mcp'), http, options)
  }

  async operate(rpcMethod: string): Promise<AuthReply> {
    const operation = { method: 'POST', url: this.#url, rpcMethod } as const
    const adapter = transportAuth(this.auth, { isIdempotent: () => this.#isIdempotent })
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method: rpcMethod })
    for (let mayRefresh = true; ; mayRefresh = false) {
      const headers = await adapter.headers(operation)
      const session = this.#session === undefined ? [] : [['mcp-session-id', this.#session] as const]
      const request = { method: 'POST', url: this.#url, headers: [...headers, ...session], body } as const
      const reply = await this.#http.send({ ...request, signal: this.auth.revoked })
      this.#session ??= reply.header('mcp-session-id')
      if (reply.status !== 401 || !mayRefresh || !(await adapter.onUnauthorized(operation, { headers }))) return reply
    }
  }

  /** Undefined when the server was told; else why it was not. */
  end(limit = new AbortController().signal): Promise<unknown> {
    const session = this.#session
    if (session === undefined) return Promise.resolve(this.auth.close())
    return endSession({
      auth: this.auth,
      server: 'test',
      url: this.#url,
      limit,
      send: async (headers, signal) => {
        const fields = [...headers, ['mcp-session-id', session] as const]
        return (await this.#http.send({ method: 'DELETE', url: this.#url, headers: fields, signal })).status
      },
    })
  }
}

export interface McpOptions {
  readonly url?: string
  readonly isIdempotent?: boolean
}
