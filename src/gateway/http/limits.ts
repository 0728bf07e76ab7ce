import { LIMITS } from '../../protocol/index.js'

/** What one HTTP gateway may hold and how long it waits. Times in milliseconds, sizes in bytes. */
export interface HttpLimits {
  /** One POST body. */
  readonly bodyBytes: number
  /** A request's headers must be in by then, and the whole request with its body by `requestMs`. */
  readonly headersMs: number
  readonly requestMs: number
  readonly connections: number
  readonly sessions: number
  /** A session without an open stream or request is closed after this time. */
  readonly idleMs: number
  /** With `sessions` reached, a session that was idle for this long makes room for a new one. */
  readonly evictAfterMs: number
  /** A POST is answered as plain JSON when its answer is there by then, as an event stream afterwards. */
  readonly plainMs: number
  /** Between two comments that keep proxies from cutting a silent stream. */
  readonly keepAliveMs: number
  /** What a client is told to wait before it opens a lost stream again. */
  readonly retryMs: number
  /** Unread output of one stream; beyond it the stream is closed. */
  readonly backlogBytes: number
  /** Events kept for `Last-Event-ID`, per session; the newest one always stays. */
  readonly replayBytes: number
  /** Requests of one session that are being answered. */
  readonly inFlight: number
  /** An answer that still streams so long after its client's token has expired is cut. */
  readonly expiredCallMs: number
  /** Between two looks whether the token behind a stream has expired. */
  readonly expiryLookMs: number
  /** Time for answers to leave when the gateway closes. */
  readonly closeMs: number
}

export const HTTP_LIMITS: HttpLimits = Object.freeze({
  bodyBytes: LIMITS.inboundBody,
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 2048,
  sessions: 128,
  idleMs: 30 * 60_000,
  evictAfterMs: 60_000,
  plainMs: 1000,
  keepAliveMs: 15_000,
  retryMs: 1000,
  backlogBytes: 1024 * 1024,
  replayBytes: 1024 * 1024,
  inFlight: 1024,
  expiredCallMs: 5 * 60_000,
  expiryLookMs: 15_000,
  closeMs: 2000,
})
