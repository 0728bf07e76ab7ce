/** What a gateway holds for modern clients, and for how long. Times in milliseconds. */
export interface ModernLimits {
  /** Threads, each with servers of its own: one a principal and way to introduce oneself. */
  readonly threads: number
  /** A thread that no request uses is closed after this time. */
  readonly threadIdleMs: number
  /** Open `subscriptions/listen` streams. */
  readonly listens: number
  /** Resources and tasks that one stream may name. */
  readonly subscriptions: number
  /** Calls that wait for their client to come back with answers, of all and of one principal. */
  readonly heldCalls: number
  readonly heldCallsPerPrincipal: number
  /** For how long they wait, and how long a `requestState` is good. */
  readonly requestStateMs: number
}

export const MODERN_LIMITS: ModernLimits = Object.freeze({
  threads: 64,
  threadIdleMs: 30 * 60_000,
  listens: 512,
  subscriptions: 1000,
  heldCalls: 1024,
  heldCallsPerPrincipal: 256,
  requestStateMs: 10 * 60_000,
})
