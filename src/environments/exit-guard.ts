export interface GuardedOwner {
  /** Orderly end; bounded by the owner. */
  close(): Promise<unknown>
  /** KILL to everything, synchronously. */
  killNow(): void
}

export interface ExitGuardOptions {
  /** The signals to take; SIGINT, SIGTERM and SIGHUP unless told. */
  readonly signals?: readonly NodeJS.Signals[]
  /** Milliseconds that `close` may take before everything is killed; 5,000. */
  readonly closeWithinMs?: number
}

/**
 * Lets no child outlive this process when it ends by a signal: the first signal closes the owner in order, a second one
 * (or the end of the wait) kills at once; then this process ends by that same signal, so that its parent sees the truth.
 * `process.exit` and uncaught errors need no guard: `LocalEnvironment` kills from the `exit` event by itself.
 *
 * For programs, such as the command line; a library leaves the signals to its host. Returns the removal of the guard.
 *
 * @example
 * ```ts
 * const unguard = installExitGuard(environment)
 * ```
 */
export function installExitGuard(owner: GuardedOwner, options: ExitGuardOptions = {}): () => void {
  const { signals = DEFAULT_SIGNALS, closeWithinMs = 5000 } = options
  let state: 'idle' | 'closing' = 'idle'
  const remove = () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  const end = (signal: NodeJS.Signals) => {
    owner.killNow()
    remove()
    process.kill(process.pid, signal)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    if (state === 'closing') return end(signal)
    state = 'closing'
    const timer = setTimeout(end, closeWithinMs, signal)
    const finish = () => {
      clearTimeout(timer)
      end(signal)
    }
    owner.close().then(finish, finish)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return remove
}

const DEFAULT_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
