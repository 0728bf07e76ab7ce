import { HttpStatusError, ReeveError, TransportClosedError } from '../errors.js'
import { pause, type Timers } from './timers.js'

/** Milliseconds before the second and the third attempt (reference: connections, 10.9). */
export const RETRY_DELAYS: readonly number[] = [250, 1000]

const RETRYABLE_STATUS = new Set([408, 425, 429])

/** A fault of the way to an HTTP server, not of what was asked: trying again may help. */
export function isTransient(error: unknown): boolean {
  if (error instanceof HttpStatusError) return error.status >= 500 || RETRYABLE_STATUS.has(error.status)
  return error instanceof TransportClosedError || (error instanceof ReeveError && error.code === 'http_request_failed')
}

/**
 * Runs `attempt` up to three times, as long as it fails for a transient reason and the signal holds. Only for what may
 * be sent twice.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  retryable: (error: unknown) => boolean,
  timers: Timers,
  signal: AbortSignal,
): Promise<T> {
  for (const delay of RETRY_DELAYS) {
    try {
      return await attempt()
    } catch (error) {
      if (signal.aborted || !retryable(error)) throw error
      await pause(timers, delay, signal)
    }
  }
  return attempt()
}
