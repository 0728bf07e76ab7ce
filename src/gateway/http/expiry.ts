import type { ServerResponse } from 'node:http'

/** A time by a clock that may jump. Milliseconds since 1970. */
export interface Deadline {
  readonly at: number
  readonly now: () => number
}

/** What has not begun to stream yet is decided soon. Milliseconds. */
const SOON = 250

/**
 * Ends a response that still streams at the deadline, within `lookMs` whatever the clock does, and cuts it as much later when its
 * client reads nothing. A plain answer is not in the way of anything: it was asked for in time.
 */
export function endWhenOver(response: ServerResponse, { at, now }: Deadline, lookMs: number): void {
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    const left = at - now()
    if (left > 0) return wait(Math.min(left, lookMs))
    if (!response.headersSent) return wait(Math.min(SOON, lookMs))
    if (response.writableEnded) return void response.destroy()
    response.end()
    wait(lookMs)
  }
  const wait = (ms: number) => {
    timer = setTimeout(look, ms)
    timer.unref()
  }
  response.once('close', () => clearTimeout(timer))
  look()
}
