import type { Clock } from './clock.js'

const BASE_MS = 1000
const LONGEST_MS = 5 * 60_000
/** A server that asks for more than a day is not believed. */
const LONGEST_ASKED_MS = 24 * 60 * 60_000

/**
 * How long to wait after the `failures`-th failure in a row: exponential with full jitter from 1 s up to 5 min, and never
 * less than what the server asked for. Source: reference, runtime-auth 14; known-quirks 63.
 */
export function backoffMs(failures: number, clock: Clock, retryAfterMs = 0): number {
  const ceiling = Math.min(LONGEST_MS, BASE_MS * 2 ** Math.min(failures - 1, 20))
  return Math.max(clock.random() * ceiling, Math.min(retryAfterMs, LONGEST_ASKED_MS))
}

/** `Retry-After` in milliseconds: whole seconds or an HTTP date; 0 when absent or unreadable. */
export function retryAfterMs(value: string | undefined, wallMs: number): number {
  if (value === undefined) return 0
  if (/^\d{1,9}$/.test(value.trim())) return Number(value.trim()) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? 0 : Math.max(0, date - wallMs)
}
