/** Time and chance, so that tests can wait an hour without waiting. Milliseconds. */
export interface Clock {
  /** Since 1970: tokens and assertions carry such times. */
  wall(): number
  /** Monotonic: for waits, which a clock that jumps must not change. */
  now(): number
  /** Calls `run` once, `ms` from now. The returned function takes that back. */
  after(ms: number, run: () => void): () => void
  /** In [0, 1). */
  random(): number
}

export const systemClock: Clock = Object.freeze({
  wall: () => Date.now(),
  now: () => performance.now(),
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
})
