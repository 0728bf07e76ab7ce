import { RequiredServersFailedError } from '../errors.js'
import { compareKeys, displayKey } from '../identity/index.js'
import { outcomeError } from './lifecycle.js'
import type { ConnectionSet } from './set.js'
import { failureText } from './startup-failure.js'
import type { ConnectionState } from './state.js'
import type { View } from './view.js'

/**
 * Waits for every enabled required server and raises one error for all that failed, in name order (reference:
 * connections, 7.1). A server with a cached catalog that is enough for it does not have to come up.
 *
 * @throws {RequiredServersFailedError}
 */
export async function validateRequired(set: ConnectionSet, signal?: AbortSignal): Promise<void> {
  const required = set.enabled.filter(isRequired).sort((a, b) => compareKeys(a.key, b.key))
  const outcomes = await Promise.all(
    required.map(async (view) => ({ view, state: await view.lease.connection.settled(signal) })),
  )
  const failures = outcomes
    .filter(({ state }) => state.state !== 'ready')
    .map(({ view, state }) => ({ server: displayKey(view.key), error: stateText(view, state) }))
  if (failures.length > 0) throw new RequiredServersFailedError(failures)
}

function isRequired({ server: { config }, cached }: View): boolean {
  return config.required && !(config.startupReadiness === 'catalog' && cached !== undefined)
}

function stateText({ key }: View, state: ConnectionState): string {
  return failureText(outcomeError(state, key))
}
