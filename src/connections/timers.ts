export interface Timer {
  cancel(): void
}

/** The clock that waiting is measured with; tests bring their own. */
export interface Timers {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs once after `ms`. A `background` timer does not keep the process alive. */
  after(ms: number, run: () => void, options?: { readonly background?: boolean }): Timer
}

/** Node turns longer timers into 1 ms. */
const LONGEST_TIMER = 2 ** 31 - 1

export const systemTimers: Timers = Object.freeze({
  now: () => Date.now(),
  after: (ms: number, run: () => void, options: { readonly background?: boolean } = {}) => {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), LONGEST_TIMER))
    if (options.background === true) timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
})

/** Resolves after `ms`, or rejects with the signal's reason. */
export function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = () => {
      timer.cancel()
      reject(signal.reason)
    }
    const timer = timers.after(ms, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Resolves when `work` is over, however it ended, or after `ms`. */
export async function atMost(timers: Timers, ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  try {
    await Promise.race([work, pause(timers, ms, over.signal)]).catch(() => undefined)
  } finally {
    over.abort('over')
  }
}
