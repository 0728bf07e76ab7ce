import {
  CancelledError,
  ClosedError,
  InvalidArgumentsError,
  ProtocolViolationError,
  type ReeveError,
  RpcError,
  TransportClosedError,
  UnsupportedError,
} from '../../errors.js'
import {
  EXEC_CODES,
  EXEC_EVENTS,
  EXEC_METHODS,
  type ExecEnvironmentInfo,
  type ExecHttpParams,
  encodeBytes,
} from '../../protocol/index.js'
import type { ExecutorHeader, HttpClient, HttpRequest, HttpResponse } from '../environment.js'
import { parseUrl, placeOf } from '../http/place.js'
import { countOf, listOf, memberOf, textOf } from './answers.js'
import { HttpBody } from './http-body.js'
import type { BorrowedLink, LinkPool } from './pool.js'

/**
 * HTTP from the executor's place in the network (reference: connections, 11.2). Each exchange has a connection of its own
 * and ends it to stop. Rejects like the host's client, with `EnvironmentError` beside.
 */
export class RemoteHttp implements HttpClient {
  readonly #pool: LinkPool
  readonly #ready: () => Promise<ExecEnvironmentInfo>
  readonly #isExposed: boolean
  #lastId = 0
  #closed = false

  /** `ready` resolves, in bounded time, when the executor is there. `isExposed`: see `Connector`. */
  constructor(pool: LinkPool, ready: () => Promise<ExecEnvironmentInfo>, isExposed = false) {
    this.#pool = pool
    this.#ready = ready
    this.#isExposed = isExposed
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const url = parseUrl(request.url)
    if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      throw new InvalidArgumentsError('the request has no http or https URL')
    if (this.#isExposed && request.isConfidential === true) throw exposed(placeOf(request.url))
    if (this.#closed) throw new ClosedError('the HTTP client')
    if (request.signal?.aborted) throw new CancelledError('cancelled by the caller', { data: { sent: false } })
    const { capabilities } = await unlessAborted(this.#ready(), request.signal)
    const borrowed = await this.#pool.borrow(request.signal)
    try {
      return await this.#exchange(borrowed, request, capabilities?.httpHeaderEnvVars === true)
    } catch (error) {
      if (error instanceof RpcError || error instanceof UnsupportedError) this.#pool.giveBack(borrowed)
      else borrowed.link.drop()
      throw error
    }
  }

  /** The connections belong to the environment and close with it. */
  async close(): Promise<void> {
    this.#closed = true
  }

  async #exchange(borrowed: BorrowedLink, request: HttpRequest, variables: boolean): Promise<HttpResponse> {
    const { link } = borrowed
    const { signal } = request
    const place = placeOf(request.url)
    this.#lastId += 1
    const requestId = `http-${this.#lastId}`
    const params = paramsOf(request, requestId, variables)
    const onAbort = () => body.fail(new CancelledError('cancelled by the caller', { data: { sent: true } }))
    const body = new HttpBody({
      place,
      pause: () => link.pause(),
      resume: () => link.resume(),
      onend: (whole) => {
        signal?.removeEventListener('abort', onAbort)
        if (whole) this.#pool.giveBack(borrowed)
        else link.drop()
      },
    })
    borrowed.onlost = (reason) => body.fail(lostWithin(reason, place))
    borrowed.onevent = (method, event) => {
      if (method === EXEC_EVENTS.bodyDelta && memberOf(event, 'requestId') === requestId) body.delta(event)
    }
    const answer = await link.call(EXEC_METHODS.httpRequest, params, signal && { signal }).catch((error: unknown) => {
      throw exchangeFault(error, place, request.executorHeaders)
    })
    const response = responseOf(answer, body, place)
    // A short body is whole by now, and its connection with the next exchange.
    if (!body.over) signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    return response
  }
}

/** As a token for the executor itself, headers go only over wss or to this machine (reference: executor-protocol, 2.2). */
function exposed(place: string): UnsupportedError {
  return new UnsupportedError(
    `the headers for ${place} would cross a network in the clear on their way to the executor: reach it over wss://, or ` +
      'name variables that are set there (bearer_token_env_var, env_http_headers)',
    { place },
  )
}

async function unlessAborted<T>(wait: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new CancelledError('cancelled by the caller', { data: { sent: false } }))
    signal?.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([wait, aborted])
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

function paramsOf(request: HttpRequest, requestId: string, variables: boolean): ExecHttpParams {
  const secrets = request.executorHeaders ?? []
  // An older executor would send the prefix alone (reference: executor-protocol, 14).
  if (secrets.length > 0 && !variables)
    throw new UnsupportedError('this executor cannot put its own variables into headers', {
      place: placeOf(request.url),
    })
  return {
    method: request.method,
    url: request.url,
    headers: [
      ...request.headers.map(([name, value]) => ({ name, value })),
      ...secrets.map(({ name, prefix, variable }) => ({ name, value: prefix, valueEnvVar: variable })),
    ],
    bodyBase64: request.body === undefined ? null : encodeBytes(request.body),
    redirectPolicy: 'stop',
    requestId,
    streamResponse: true,
  }
}

function responseOf(answer: unknown, body: HttpBody, place: string): HttpResponse {
  const status = countOf(answer, 'status', place)
  if (status < 100 || status > 599) throw new ProtocolViolationError(`${place} answered with no HTTP status`, { place })
  const headers = listOf(answer, 'headers', place).map(
    (header) => [textOf(header, 'name', place).toLowerCase(), textOf(header, 'value', place)] as const,
  )
  const headerAll = (name: string) => headers.flatMap(([known, value]) => (known === name ? [value] : []))
  return {
    status,
    header: (name) => headerAll(name)[0],
    headerAll,
    body,
    cancel: () => body.cancel(),
  }
}

/** The executor's own texts name the whole URL with its query, so they are not passed on. */
function exchangeFault(error: unknown, place: string, secrets: readonly ExecutorHeader[] = []): unknown {
  if (error instanceof CancelledError) return new CancelledError(error.message, { data: { sent: true } })
  if (!(error instanceof RpcError)) return error
  if (error.rpcCode === EXEC_CODES.badParams) {
    const variables = secrets.map(({ variable }) => variable)
    const unset = variables.length === 0 ? '' : `: is ${variables.join(' or ')} not set there?`
    const data = variables.length === 0 ? {} : { data: { variables } }
    return new InvalidArgumentsError(`the executor cannot send the request to ${place}${unset}`, { place, ...data })
  }
  return new TransportClosedError(`the executor cannot reach ${place}, or lost the connection`, {
    sent: true,
    place,
    data: { sent: true, reason: 'other', rpcCode: error.rpcCode },
  })
}

function lostWithin(reason: ReeveError, place: string): ReeveError {
  const text = `lost the connection to the executor within the answer of ${place}: ${reason.message}`
  return new TransportClosedError(text, { sent: true, place, cause: reason, data: { sent: true, reason: 'reset' } })
}
