/** Members of a call's `_meta` that only the runtime may set (reference: authority, 9), in their order. */
export const SANDBOX_MEMBERS = Object.freeze({
  state: 'codex/sandbox-state',
  alias: 'codex/sandbox-state-meta',
  launcher: 'codex/sandbox-launcher',
})
