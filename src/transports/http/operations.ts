import { type ExecutorHeader, type HttpClient, type HttpResponse, placeOf } from '../../environments/index.js'
import { orAborted } from './abortion.js'
import { replaced, withExecutorHeaders } from './executor-headers.js'
import { buildHeaders, type HeaderField } from './header-fields.js'
import type { HttpAuth, HttpOperation, Refusal } from './http-auth.js'
import { discard } from './read-body.js'
import { secretsOf } from './redaction.js'
import { type EffectiveRedirectPolicy, isRedirect, type RedirectPolicy, redirectTarget } from './redirects.js'
import type { Timers } from './timers.js'

export interface OutgoingOperation {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly url: string
  readonly body?: string
  readonly rpcMethod?: string
  readonly tool?: string
  readonly protocolVersion?: string
  readonly sessionId?: string
  readonly lastEventId?: string
  /** Header fields of the message itself. */
  readonly headers?: readonly HeaderField[]
  readonly signal: AbortSignal
}

export interface Performed {
  readonly response: HttpResponse
  /** Origin and path that answered, for error texts. */
  readonly place: string
  /** Credential values that were sent: an error page may echo them. */
  readonly secrets: readonly string[]
}

export interface HttpOperationsOptions {
  readonly http: HttpClient
  readonly auth: HttpAuth
  readonly configured: readonly HeaderField[]
  /** Added by the executor that sends; never by the host. */
  readonly executorHeaders?: readonly ExecutorHeader[]
  readonly redirects: RedirectPolicy
  readonly timers: Timers
}

/** Sends operations of one server: credentials for each attempt, same-origin redirects, one repetition after a 401. */
export class HttpOperations {
  readonly #options: HttpOperationsOptions

  constructor(options: HttpOperationsOptions) {
    const names = replaced(options.executorHeaders ?? [])
    this.#options = { ...options, configured: options.configured.filter(([name]) => !names.has(name.toLowerCase())) }
  }

  async perform(outgoing: OutgoingOperation): Promise<Performed> {
    let url = outgoing.url
    let hops = 0
    let mayRefresh = true
    for (;;) {
      const operation = describe(outgoing, url)
      const auth = await orAborted(this.#options.auth.headers(operation), outgoing.signal)
      const response = await this.#send(outgoing, url, auth)
      if (isRedirect(response.status)) {
        void discard(response, this.#options.timers)
        url = redirectTarget(response, url, hops, this.#redirects(auth))
        hops += 1
      } else if (
        response.status === 401 &&
        mayRefresh &&
        (await this.#refreshed(operation, response, auth, outgoing))
      ) {
        void discard(response, this.#options.timers)
        mayRefresh = false
      } else {
        if (response.status === 403) await this.#forbidden(operation, response, auth)
        return { response, place: placeOf(url), secrets: secretsOf([...this.#options.configured, ...auth]) }
      }
    }
  }

  #send(outgoing: OutgoingOperation, url: string, auth: readonly HeaderField[]): Promise<HttpResponse> {
    const { method, body, signal } = outgoing
    const fields = buildHeaders({ ...outgoing, configured: this.#options.configured, auth })
    const headers = withExecutorHeaders(fields, this.#options.executorHeaders ?? [])
    const isConfidential = this.#isConfidential(auth)
    return this.#options.http.request({
      method,
      url,
      ...headers,
      ...(isConfidential && { isConfidential }),
      signal,
      ...(body !== undefined && { body }),
    })
  }

  #redirects(auth: readonly HeaderField[]): EffectiveRedirectPolicy {
    const { redirects, executorHeaders = [] } = this.#options
    if (redirects !== 'stop-credentials') return redirects
    return this.#isConfidential(auth) || executorHeaders.length > 0 ? 'stop' : 'same-origin'
  }

  #isConfidential(auth: readonly HeaderField[]): boolean {
    return this.#options.configured.length > 0 || auth.length > 0
  }

  async #forbidden(operation: HttpOperation, response: HttpResponse, headers: readonly HeaderField[]): Promise<void> {
    try {
      await this.#options.auth.onForbidden?.(operation, refusalOf(response, headers))
    } catch (error) {
      response.cancel()
      throw error
    }
  }

  async #refreshed(
    operation: HttpOperation,
    response: HttpResponse,
    headers: readonly HeaderField[],
    { signal }: OutgoingOperation,
  ): Promise<boolean> {
    const { auth } = this.#options
    if (auth.onUnauthorized === undefined) return false
    const refusal = refusalOf(response, headers)
    try {
      return await orAborted(auth.onUnauthorized(operation, refusal), signal)
    } catch (error) {
      response.cancel()
      throw error
    }
  }
}

function refusalOf(response: HttpResponse, headers: readonly HeaderField[]): Refusal {
  const dpopNonce = response.header('dpop-nonce')
  return { status: response.status, challenge: challengeOf(response), dpopNonce, headers }
}

/** All `WWW-Authenticate` fields as one; undefined when there is none. */
export function challengeOf(response: HttpResponse): string | undefined {
  const fields = response.headerAll('www-authenticate')
  return fields.length === 0 ? undefined : fields.join(', ')
}

function describe({ method, rpcMethod, tool }: OutgoingOperation, url: string): HttpOperation {
  const about = { ...(rpcMethod !== undefined && { rpcMethod }), ...(tool !== undefined && { tool }) }
  return { method, url, origin: new URL(url).origin, ...about }
}
