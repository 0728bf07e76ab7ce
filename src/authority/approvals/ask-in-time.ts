import { CancelledError } from '../../errors.js'

/**
 * What was answered, unless it took too long. Whoever is asked is told when no answer is wanted any more.
 *
 * @throws CancelledError when `signal` fires; what `ask` threw
 */
export function askInTime(
  ask: (stop: AbortSignal) => Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly answer: unknown } | 'too_late'> {
  if (signal.aborted) return Promise.reject(new CancelledError())
  const stop = new AbortController()
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      resolve('too_late')
      stop.abort(new CancelledError('nobody answered in time'))
    }, timeoutMs)
    const onCaller = () => {
      const error = new CancelledError()
      reject(error)
      stop.abort(error)
    }
    const over = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onCaller)
    }
    stop.signal.addEventListener('abort', over, { once: true })
    signal.addEventListener('abort', onCaller, { once: true })
    Promise.resolve()
      .then(() => ask(stop.signal))
      .then((answer) => resolve({ answer }), reject)
      .finally(over)
  })
}
