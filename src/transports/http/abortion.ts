import { CancelledError, ReeveError } from '../../errors.js'

/** What a fired signal means as an error. */
export function abortError(signal: AbortSignal): ReeveError {
  return signal.reason instanceof ReeveError ? signal.reason : new CancelledError()
}

/** The promise, or a rejection as soon as the signal fires. Leaves no listener behind. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw abortError(signal)
  let onAbort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortError(signal))
  })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** A signal per message, fired by the caller's own signal or by the end of the transport. */
export class OpenExchanges {
  readonly #open = new Set<AbortController>()

  begin(signal: AbortSignal | undefined): { readonly signal: AbortSignal; end(): void } {
    const controller = new AbortController()
    const onAbort = () => controller.abort(signal?.reason)
    this.#open.add(controller)
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
    return {
      signal: controller.signal,
      end: () => {
        this.#open.delete(controller)
        signal?.removeEventListener('abort', onAbort)
      },
    }
  }

  abortAll(reason: ReeveError): void {
    for (const controller of [...this.#open]) controller.abort(reason)
  }
}
