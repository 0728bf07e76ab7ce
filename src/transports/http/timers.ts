/** Time and chance, so that tests can wait an hour without waiting. Milliseconds. */
export interface Timers {
  /** Monotonic. */
  now(): number
  /** Calls `run` once, `ms` from now. The returned function takes that back. */
  after(ms: number, run: () => void): () => void
  /** In [0, 1). */
  random(): number
}

export const systemTimers: Timers = Object.freeze({
  now: () => performance.now(),
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
})

/** Resolves after `ms`, or as soon as the signal fires. */
export function sleep(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = timers.after(ms, done)
    signal.addEventListener('abort', done, { once: true })
  })
}
