import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Variables } from '../processes/env-policy.js'
import { internal } from '../wire/fault.js'
import { ACCEPTED_ENCODINGS, decodedBody } from './decoded-body.js'
import type { HttpPlan } from './http-plan.js'

export interface HttpAnswer {
  readonly status: number
  /** Names in lower case, repeats kept. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** Decoded. */
  readonly body: Readable
}

export type Exchange = (plan: HttpPlan, signal: AbortSignal) => Promise<HttpAnswer>

const MOST_REDIRECTS = 10

/** Makes HTTP requests from this machine, through its own proxy settings. Loads the HTTP library at the first one. */
export function exchanges(variables: Variables): Exchange {
  let client: Promise<Client> | undefined
  return async (plan, signal) => {
    client ??= openClient(variables)
    return follow(await client, plan, signal)
  }
}

interface Client {
  readonly request: typeof import('undici').request
  readonly dispatcher: Dispatcher
}

async function openClient(variables: Variables): Promise<Client> {
  // By its default export: a bundler that splits a CommonJS package into a chunk keeps no named ones.
  const { EnvHttpProxyAgent, request } = (await import('undici')).default
  const setting = (name: string) => variables[name.toLowerCase()] || variables[name.toUpperCase()] || ''
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: setting('http_proxy'),
    httpsProxy: setting('https_proxy'),
    noProxy: setting('no_proxy'),
    // The client says how long an answer may take; an event stream may be silent for as long as it likes.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return { request, dispatcher }
}

async function follow(client: Client, plan: HttpPlan, signal: AbortSignal): Promise<HttpAnswer> {
  let next = plan
  for (let redirects = 0; ; redirects += 1) {
    const answer = await once(client, next, signal)
    const location = answer.headers.find(({ name }) => name === 'location')?.value
    if (plan.redirects === 'stop' || !REDIRECTS.has(answer.status) || location === undefined) return answer
    answer.body.on('error', () => {}).destroy()
    if (redirects === MOST_REDIRECTS) throw internal('http/request failed: too many redirects')
    next = redirected(next, answer.status, location)
  }
}

async function once({ request, dispatcher }: Client, plan: HttpPlan, signal: AbortSignal): Promise<HttpAnswer> {
  try {
    const answer = await request(plan.url, {
      dispatcher,
      method: plan.method,
      headers: withDefaults(plan.headers).flat(),
      body: plan.body ?? null,
      responseHeaders: 'raw',
      signal,
    })
    const headers = rawPairs(answer.headers)
    return { status: answer.statusCode, ...decodedBody(headers, answer.body) }
  } catch (error) {
    throw internal(`http/request failed: ${failure(error)} (${plan.url.origin})`)
  }
}

/** What went wrong, as text. The HTTP library's own texts hold no URL. */
export function failure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (error.name === 'TimeoutError') return 'no answer within timeoutMs'
  return 'code' in error && typeof error.code === 'string' ? `${error.code}: ${error.message}` : error.message
}

function withDefaults(headers: HttpPlan['headers']): (readonly [string, string])[] {
  const has = (wanted: string) => headers.some(([name]) => name === wanted)
  return [
    ...headers,
    ...(has('accept') ? [] : [['accept', '*/*'] as const]),
    ...(has('accept-encoding') ? [] : [['accept-encoding', ACCEPTED_ENCODINGS] as const]),
  ]
}

/** `responseHeaders: 'raw'` gives a flat list, which the library's types don't say. */
function rawPairs(raw: unknown): HttpAnswer['headers'] {
  if (!Array.isArray(raw)) return []
  const pairs: { name: string; value: string }[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const value = String(raw[at + 1])
    if (VISIBLE.test(value)) pairs.push({ name: String(raw[at]).toLowerCase(), value })
  }
  return pairs
}

function redirected(plan: HttpPlan, status: number, location: string): HttpPlan {
  if (!URL.canParse(location, plan.url.href)) throw internal('http/request failed: a redirect to no URL')
  const url = new URL(location, plan.url)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw internal('http/request failed: a redirect to another scheme')
  const toGet = status === 303 ? plan.method !== 'HEAD' : (status === 301 || status === 302) && plan.method === 'POST'
  const dropped = [...(url.origin === plan.url.origin ? [] : CREDENTIALS), ...(toGet ? OF_BODIES : [])]
  const headers = plan.headers.filter(([name]) => !dropped.includes(name))
  return { ...plan, url, headers, ...(toGet && { method: 'GET', body: undefined }) }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Not for another origin. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization', 'host']
const OF_BODIES = ['content-length', 'content-type', 'content-encoding', 'transfer-encoding']
const VISIBLE = /^[\t\x20-\x7e]*$/
