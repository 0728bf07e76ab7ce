import { CancelledError, OAuthError, RedirectRefusedError, ReeveError } from '../../errors.js'

/**
 * How authorization servers are reached: an environment's HTTP, so that what an executor owns is reached from there. It
 * follows no redirect.
 */
export interface OAuthHttp {
  request(request: OAuthRequest): Promise<OAuthResponse>
}

export interface OAuthRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: string
  readonly isConfidential?: boolean
  readonly signal?: AbortSignal
}

export interface OAuthResponse {
  readonly status: number
  header(name: string): string | undefined
  headerAll(name: string): readonly string[]
  readonly body: AsyncIterable<Buffer>
  cancel(): void
}

export interface OAuthAnswer {
  readonly status: number
  readonly text: string
  /** Undefined where the text is no JSON. */
  readonly json: unknown
  readonly challenges: readonly string[]
  readonly location: string | undefined
  /** What the server wants in the next proof of a key (RFC 9449, 8). */
  readonly nonce: string | undefined
}

export interface ExchangeLimits {
  /** Milliseconds for the whole exchange. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Bodies of other answers are not read: they may be streams without an end. Default: all are. */
  readonly readable?: (status: number) => boolean
}

/** Metadata with thousands of scopes is some 100 KiB. */
const MAX_BYTES = 1024 * 1024

/**
 * One whole exchange.
 *
 * @throws OAuthError `oauth_unreachable` (no answer, or none in time) or `oauth_invalid_answer` (too large);
 * CancelledError when the signal fires
 */
export async function exchange(http: OAuthHttp, request: OAuthRequest, limits: ExchangeLimits): Promise<OAuthAnswer> {
  const place = placeOf(request.url)
  const late = AbortSignal.timeout(limits.timeoutMs)
  const signal = limits.signal === undefined ? late : AbortSignal.any([limits.signal, late])
  try {
    const response = await http.request({ ...request, signal })
    return await readAnswer(response, place, limits.readable?.(response.status) ?? true)
  } catch (error) {
    if (error instanceof OAuthError) throw error
    if (limits.signal?.aborted === true) throw new CancelledError('cancelled by the caller', { cause: error })
    const why = late.aborted ? `no answer within ${Math.round(limits.timeoutMs / 1000)} s` : messageOf(error)
    throw new OAuthError('oauth_unreachable', `${place}: ${why}`, { place, cause: error })
  }
}

/** A form, as the endpoints of OAuth take them. */
export function formPost(
  url: string,
  fields: ReadonlyMap<string, string>,
  headers: readonly (readonly [string, string])[] = [],
): OAuthRequest {
  return {
    method: 'POST',
    url,
    headers: [...headers, ['Content-Type', 'application/x-www-form-urlencoded'], ['Accept', 'application/json']],
    body: new URLSearchParams([...fields]).toString(),
    isConfidential: true,
  }
}

/** A redirect where a secret was sent would take it elsewhere. */
export function refuseRedirect(answer: OAuthAnswer, url: string): void {
  if (answer.status < 300 || answer.status > 399) return
  const { location } = answer
  const target = location !== undefined && URL.canParse(location, url) ? new URL(location, url).origin : 'null'
  const origin = target === 'null' ? '(an unreadable location)' : target
  throw new RedirectRefusedError(origin, 'endpoints of an authorization server are not redirected', {
    place: placeOf(url),
    data: { status: answer.status },
  })
}

/** Origin and path: never the query, which may hold secrets. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) return '(an unreadable URL)'
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

async function readAnswer(response: OAuthResponse, place: string, isRead: boolean): Promise<OAuthAnswer> {
  if (!isRead) response.cancel()
  const text = isRead ? await readText(response, place) : ''
  return {
    status: response.status,
    text,
    json: parsed(text),
    challenges: response.headerAll('www-authenticate'),
    location: response.header('location'),
    nonce: response.header('dpop-nonce'),
  }
}

async function readText(response: OAuthResponse, place: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) {
      response.cancel()
      throw new OAuthError('oauth_invalid_answer', `${place} answered with more than ${MAX_BYTES} bytes`, { place })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ReeveError || error instanceof Error) return error.message
  return String(error)
}
