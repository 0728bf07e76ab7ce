import type { ServerResponse } from 'node:http'

/** Milliseconds between two looks at the clock, which may jump. */
const LOOK = 15_000
/** What has not begun to stream yet is decided soon. */
const SOON = 250

/**
 * Ends a response that still streams at `endsAt` (milliseconds since 1970), within 15 s whatever the clock does. A plain
 * answer is not in the way of anything: it was asked for in time.
 */
export function endWhenOver(response: ServerResponse, endsAt: number): void {
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    const left = endsAt - Date.now()
    if (left <= 0 && response.headersSent) response.end()
    else wait(left <= 0 ? SOON : Math.min(left, LOOK))
  }
  const wait = (ms: number) => {
    timer = setTimeout(look, ms)
    timer.unref()
  }
  response.once('close', () => clearTimeout(timer))
  look()
}
