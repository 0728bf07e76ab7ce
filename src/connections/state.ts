import type { ReeveError, StartupFailedError } from '../errors.js'
import type { Handshake } from './negotiate.js'

/** Every `since` and `retryAt` is in milliseconds since the epoch; `failures` counts attempts since it was last up. */
export type ConnectionState =
  /** Nothing was asked of it yet. */
  | { readonly state: 'idle'; readonly since: number }
  | { readonly state: 'starting'; readonly since: number; readonly restart: boolean; readonly failures: number }
  | { readonly state: 'ready'; readonly since: number; readonly handshake: Handshake }
  /**
   * It was up and ended without being asked to, or its environment can't be reached; the next attempt is due at `retryAt`,
   * or when somebody needs it, or when the environment it went down with is back.
   */
  | {
      readonly state: 'waiting'
      readonly since: number
      readonly error: ReeveError
      readonly retryAt: number
      readonly failures: number
    }
  /** No further attempt by itself; one is made when somebody needs it. */
  | { readonly state: 'failed'; readonly since: number; readonly error: StartupFailedError }
  | { readonly state: 'cancelled'; readonly since: number }
  | { readonly state: 'closed'; readonly since: number }
