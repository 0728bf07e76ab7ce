/** Members of a call's `_meta` that only the runtime may set (reference: authority, 9), in their order. */
export const SANDBOX_MEMBERS = Object.freeze({
  state: 'codex/sandbox-state',
  alias: 'codex/sandbox-state-meta',
  launcher: 'codex/sandbox-launcher',
})

/** Whether only the runtime may say it: what a caller puts there is dropped. */
export function isSandboxMember(member: string): boolean {
  return Object.values<string>(SANDBOX_MEMBERS).includes(member)
}
