import { FirstPartyAuthError } from '../../errors.js'
import type { AuthHttp, AuthReply } from '../http/auth-http.js'
import { followedRedirect } from '../http/followed-redirect.js'
import type { AuthContext } from './auth-context.js'
import { type AuthIdentity, authIdentity } from './auth-identity.js'
import type { ConnectionAuth } from './connection-auth.js'
import { carriesAuth, layOut, type RequestLayout } from './layouts.js'

const MAX_REDIRECTS = 10

export interface BackendRequest {
  readonly layout: RequestLayout
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly url: string
  readonly body?: string | Uint8Array
  /** `stop`: no redirect is followed, whatever the request carries. */
  readonly redirects?: 'stop'
  /** As whom it is sent, or not at all: `auth_unavailable` when the account is another one by then. */
  readonly as?: AuthIdentity
  /** What the layout has places for, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Requests of the backend's own clients (discovery, plugins, uploads, analytics) for one thread or actor: its auth and its
 * mode, headers in their order, redirects as the auth of that very request allows. A credential that changed meanwhile is
 * taken up once, before anything was sent.
 *
 * `send` rejects with `FirstPartyAuthError` (nothing was sent), `RedirectRefusedError`, or what the transport says.
 */
export class BackendClient {
  readonly #context: AuthContext
  readonly #http: AuthHttp
  #auth: ConnectionAuth | undefined

  constructor(context: AuthContext, http: AuthHttp) {
    this.#context = context
    this.#http = http
  }

  async send(request: BackendRequest): Promise<AuthReply> {
    let { url } = request
    for (let hops = 0; ; hops += 1) {
      const { headers, redirects, revoked } = await this.#authorized(request, url)
      const reply = await this.#http.send({
        method: request.method,
        url,
        headers: layOut(request.layout, { own: request.headers, auth: headers }),
        ...(request.body !== undefined && { body: request.body }),
        signal: AbortSignal.any([request.signal, revoked]),
      })
      if (reply.status < 300 || reply.status > 399 || reply.status === 304) return reply
      const location = reply.header('location')
      url = followedRedirect({
        status: reply.status,
        location,
        from: url,
        hops,
        policy: request.redirects ?? redirects,
        limit: MAX_REDIRECTS,
      })
    }
  }

  async #authorized({ method, layout, signal, as }: BackendRequest, url: string) {
    if (!carriesAuth(layout)) return { headers: [], redirects: 'stop', revoked: signal } as const
    for (let attempt = 1; ; attempt += 1) {
      const auth = this.#current()
      if (as !== undefined) this.#checkIdentity(as)
      const authorization = await orAborted(auth.authorize({ method, url }), signal)
      if (authorization.kind === 'authorized') return { ...authorization, revoked: auth.revoked }
      // Nothing went out, so it is no repetition, whatever the method.
      if (authorization.error.code !== 'credentials_changed_not_sent' || attempt > 1) throw authorization.error
    }
  }

  /** In one go with the connection, which stays with whoever is signed in now. */
  #checkIdentity(wanted: AuthIdentity): void {
    const { mode, account, source } = authIdentity(this.#context.mode, this.#context.manager.current())
    if (mode === wanted.mode && account === wanted.account && source === wanted.source) return
    throw new FirstPartyAuthError('auth_unavailable', 'another account is signed in by now', { transient: true })
  }

  #current(): ConnectionAuth {
    const known = this.#auth
    if (known !== undefined && !known.isSuperseded && !known.revoked.aborted) return known
    known?.close()
    this.#auth = this.#context.connect('backend')
    return this.#auth
  }
}

/** Auth may wait for a refresh or a registration, which go on for others when this request is given up. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop: () => void = () => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
