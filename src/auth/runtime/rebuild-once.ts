import { FirstPartyAuthError } from '../../errors.js'

/**
 * Runs an operation on a connection, and once more on one that is built anew when auth refused it unsent and says that this
 * may help; a second change in the same operation is an error. Source: reference, runtime-auth 14; known-quirks 57.
 *
 * @param connect gives the connection to use; after `rebuild` another one.
 */
export async function withRebuild<C, T>(
  connect: () => Promise<C>,
  run: (connection: C) => Promise<T>,
  rebuild: (outdated: C) => Promise<void>,
): Promise<T> {
  const first = await connect()
  try {
    return await run(first)
  } catch (error) {
    if (!(error instanceof FirstPartyAuthError) || !error.mayRetry) throw error
    await rebuild(first)
    return run(await connect())
  }
}
