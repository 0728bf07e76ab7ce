import { HttpStatusError, TransportClosedError } from '../../errors.js'
import type { JsonRpcMessage } from '../../protocol/index.js'
import { abortError } from './abortion.js'
import { sleep, type Timers } from './timers.js'

/** Pauses before the second and third attempt. Source of this file: reference, connections 10.9. */
const DELAYS = [250, 1000] as const

/** Waiting longer than a whole startup would only turn the server's answer into a timeout. */
const LONGEST_RETRY_AFTER = 30_000

const REPEATABLE: ReadonlySet<string> = new Set(['initialize', 'notifications/initialized', 'tools/list'])
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** May this message be sent again although the server may have seen it? */
export function isRepeatable(message: JsonRpcMessage): boolean {
  return 'method' in message && REPEATABLE.has(message.method)
}

export function isTransient(status: number): boolean {
  return TRANSIENT.has(status)
}

/**
 * Runs `attempt` up to three times. What is repeatable is sent again after a transient status or a failed connection;
 * anything else only when it certainly was not sent. `Retry-After` lengthens the pause.
 */
export async function withRetries<T>(
  repeatable: boolean,
  timers: Timers,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt()
    } catch (error) {
      const delay = pauseAfter(error, repeatable, DELAYS[failures])
      if (delay === undefined || signal.aborted) throw error
      await sleep(timers, delay, signal)
      if (signal.aborted) throw abortError(signal)
    }
  }
}

function pauseAfter(error: unknown, repeatable: boolean, delay: number | undefined): number | undefined {
  if (delay === undefined) return undefined
  if (error instanceof TransportClosedError) {
    // A certificate does not become valid by asking again.
    if (error.data?.reason === 'tls' || error.data?.reason === 'closed') return undefined
    return !error.sent || repeatable ? delay : undefined
  }
  if (!(error instanceof HttpStatusError) || !repeatable || !isTransient(error.status)) return undefined
  const asked = retryAfterMs(error.data?.retryAfter)
  return asked > LONGEST_RETRY_AFTER ? undefined : Math.max(delay, asked)
}

/** `Retry-After` in milliseconds from now: seconds, or a date. Unreadable is 0. */
export function retryAfterMs(field: unknown, now = Date.now()): number {
  if (typeof field !== 'string') return 0
  if (/^\s*\d+\s*$/.test(field)) return Number(field) * 1000
  const date = Date.parse(field)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
