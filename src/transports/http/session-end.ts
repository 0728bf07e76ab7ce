import { HttpStatusError, OperationTimeoutError } from '../../errors.js'
import type { Performed } from './operations.js'
import { discard } from './read-body.js'
import type { Timers } from './timers.js'

/** A server that does not answer must not hold up the end of the connection. */
const PATIENCE = 3000

/**
 * Tells the server that the session is over. Never rejects: resolves with what went wrong, for a warning. 405 means
 * that the server ends sessions in its own way (reference: connections, 10.5); 404 that it already has.
 */
export async function endSession(
  timers: Timers,
  remove: (signal: AbortSignal) => Promise<Performed>,
): Promise<Error | undefined> {
  const controller = new AbortController()
  const tooLate = new OperationTimeoutError('the end of the session', PATIENCE)
  const stopWaiting = timers.after(PATIENCE, () => controller.abort(tooLate))
  try {
    const { response, place } = await remove(controller.signal)
    await discard(response, timers)
    const { status } = response
    if ((status >= 200 && status <= 299) || status === 404 || status === 405) return undefined
    return new HttpStatusError(status, `ending the session: HTTP ${status}`, { place })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    stopWaiting()
  }
}
