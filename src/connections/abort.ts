import { CancelledError, ReeveError } from '../errors.js'

/** What an aborted signal means: our own error where one was given as the reason, else that the caller left. */
export function abortError(signal: AbortSignal): ReeveError {
  return signal.reason instanceof ReeveError ? signal.reason : new CancelledError(undefined, { cause: signal.reason })
}

/**
 * The outcome of `work`, unless the signal fires first: then it rejects at once, even when `work` never ends. `late`
 * gets a value that came too late, so that what it holds can be closed.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, late?: (value: T) => void): Promise<T> {
  if (signal === undefined) return work
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortError(signal))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    work
      .then(
        (value) => {
          if (signal.aborted) late?.(value)
          resolve(value)
        },
        (error: unknown) => reject(error),
      )
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}
