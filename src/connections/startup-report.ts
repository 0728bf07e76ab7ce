import type { ReeveError } from '../errors.js'
import { type ServerKey, ServerKeyMap } from '../identity/index.js'
import type { ConnectionSet } from './set.js'
import { failureText } from './startup-failure.js'
import type { ConnectionState } from './state.js'
import { failureReasonOf } from './status-row.js'
import type { ConnectionEvent } from './types.js'

type Announced = 'starting' | 'ready' | 'failed' | 'cancelled'

/** Tells how servers are doing: each transition once, whatever is published again (reference: known-quirks, 2 and 3). */
export class StartupReport {
  readonly #emit: (event: ConnectionEvent) => void
  readonly #last = new ServerKeyMap<Announced>()

  constructor(emit: (event: ConnectionEvent) => void) {
    this.#emit = emit
  }

  changed(key: ServerKey, state: ConnectionState): void {
    const status = announcedAs(state)
    if (status === undefined || this.#last.get(key) === status) return
    this.#last.set(key, status)
    const error = 'error' in state ? state.error : undefined
    const failureReason = error && failureReasonOf(error)
    this.#emit({
      type: 'status',
      key,
      status,
      ...(error && { error: shownText(state, key, error) }),
      ...(failureReason && { failureReason }),
    })
  }

  /** A server left the set. */
  forget(key: ServerKey): void {
    this.#last.delete(key)
  }

  /** How the startups of one set ended. Has the raw texts, where the transitions have the display texts. */
  summary(set: ConnectionSet): void {
    const states = set.enabled.map(({ key, lease }) => ({ key, state: lease.connection.state }))
    this.#emit({
      type: 'startup_summary',
      ready: states.filter(({ state }) => state.state === 'ready').map(({ key }) => key),
      failed: states.flatMap(({ key, state }) => ('error' in state ? [{ key, error: failureText(state.error) }] : [])),
      cancelled: states.filter(({ state }) => state.state === 'cancelled').map(({ key }) => key),
    })
  }
}

function announcedAs(state: ConnectionState): Announced | undefined {
  switch (state.state) {
    case 'starting':
    case 'ready':
    case 'failed':
    case 'cancelled':
      return state.state
    case 'waiting':
      return 'failed'
    case 'idle':
    case 'closed':
      return undefined
  }
}

/** A crash is no failed start, and says so. */
function shownText(state: ConnectionState, key: ServerKey, error: ReeveError): string {
  return state.state === 'waiting' && error.code !== 'startup_failed'
    ? `MCP client for \`${key.name}\` stopped: ${error.message}`
    : error.message
}
