import { type AuthHttp, type AuthIdentity, type AuthReply, type BackendClient, layOut } from '../auth/index.js'
import { FirstPartyAuthError, RedirectRefusedError } from '../errors.js'
import { implementation } from '../protocol/index.js'
import type { AnalyticsPlace } from './settings.js'

/** What became of a batch. `later`: it may be sent again; `never`: it will not be taken, and is dropped. */
export type Delivery =
  | { readonly is: 'taken' }
  | { readonly is: 'later' | 'never'; readonly reason: string; readonly retryAfterMs?: number }

export interface DeliveryRoute {
  readonly place: AnalyticsPlace
  readonly client: BackendClient
  readonly http: AuthHttp
  /** As whom the events were queued; nobody else delivers them. */
  readonly as: AuthIdentity
}

const LAYOUT = 'analytics_events'
/** Milliseconds for one request. */
const REQUEST = 10_000

/**
 * Sends one batch, once: no repetition and no refresh after a 401, no redirect with an assertion. Source: reference,
 * surfaces 3.3; runtime-auth 7 and 14.
 */
export async function deliver(events: readonly string[], route: DeliveryRoute, signal: AbortSignal): Promise<Delivery> {
  const body = `{"events":[${events.join(',')}]}`
  try {
    return deliveryOf(await send(body, route, AbortSignal.any([signal, AbortSignal.timeout(REQUEST)])))
  } catch (error) {
    return failedDelivery(error)
  }
}

function send(body: string, { place, client, http, as }: DeliveryRoute, signal: AbortSignal): Promise<AuthReply> {
  const { url, isBackend } = place
  const own = ownHeaders()
  if (isBackend) return client.send({ layout: LAYOUT, method: 'POST', url, headers: own, body, signal, as })
  const headers = layOut(LAYOUT, { own, auth: [] })
  return http.send({ method: 'POST', url, headers, body, signal })
}

function ownHeaders() {
  const { name, version } = implementation()
  return {
    'content-type': 'application/json',
    originator: name,
    'user-agent': `${name}/${version}`,
    accept: '*/*',
  }
}

function deliveryOf(reply: AuthReply): Delivery {
  const { status } = reply
  if (status >= 200 && status < 300) return { is: 'taken' }
  const reason = `HTTP ${status}`
  if (status < 500 && status !== 429 && status !== 408) return { is: 'never', reason }
  const seconds = Number(reply.header('retry-after') ?? Number.NaN)
  return { is: 'later', reason, ...(seconds > 0 && { retryAfterMs: seconds * 1000 }) }
}

/** What no later attempt with this mode and place makes better. */
const FINAL: ReadonlySet<string> = new Set([
  'assertion_not_possible',
  'unsupported_endpoint',
  'runtime_environment_mismatch',
  'account_header_invalid',
  'selection_not_possible',
  'selection_mismatch',
])

function failedDelivery(error: unknown): Delivery {
  if (error instanceof RedirectRefusedError) return { is: 'never', reason: error.message }
  if (error instanceof FirstPartyAuthError) {
    return { is: FINAL.has(error.code) ? 'never' : 'later', reason: error.code }
  }
  return { is: 'later', reason: error instanceof Error ? error.name : 'no answer' }
}
