/** Members of a call's `_meta` (reference: authority, 9). */
export const SANDBOX_STATE = 'codex/sandbox-state'
/** The deprecated name of the same state; both are sent with equal content. */
export const SANDBOX_STATE_ALIAS = 'codex/sandbox-state-meta'
export const SANDBOX_LAUNCHER = 'codex/sandbox-launcher'

/**
 * What a server puts into the `capabilities` of its `initialize` result, so that clients send it the state of each call.
 * Both keys, for clients that know only the older one.
 *
 * @example
 * ```ts
 * const capabilities = { tools: {}, ...SANDBOX_CAPABILITIES }
 * ```
 */
export const SANDBOX_CAPABILITIES = Object.freeze({
  experimental: Object.freeze({
    [SANDBOX_STATE]: Object.freeze({ version: '1' }),
    [SANDBOX_STATE_ALIAS]: Object.freeze({}),
  }),
})
