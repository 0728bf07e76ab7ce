import type { ConfigOrigin } from '../server.js'

/** The events that hooks can be for (reference: authority, 7). */
export const HOOK_EVENTS = ['PreToolUse', 'PermissionRequest', 'PostToolUse'] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

export type HookJson = null | boolean | number | string | HookJson[] | { [member: string]: HookJson }

interface HandlerSettings {
  /** Milliseconds. */
  readonly timeoutMs: number
  readonly statusMessage?: string
  /** What becomes of a call whose hook could not say anything: `allow`, as in the reference, or `block`. */
  readonly onFailure: 'allow' | 'block'
}

/** A shell command on the host: the event's input on stdin, its answer from exit status, stdout and stderr. */
export interface CommandHook extends HandlerSettings {
  readonly type: 'command'
  readonly command: string
}

/** A tool of one of the thread's servers, called without approval; its result is read as the output of a command. */
export interface McpToolHook extends HandlerSettings {
  readonly type: 'mcp_tool'
  readonly server: string
  readonly tool: string
  /** Absent: the name alone has to say which server is meant (known-quirks, row 5). */
  readonly environment?: string
  /** Texts in it may hold `${tool_input.x}`. */
  readonly input: { readonly [member: string]: HookJson }
}

/** A hook that can't be read, but that no call may go without: every run of it fails. */
export interface BrokenHook extends HandlerSettings {
  readonly type: 'broken'
  readonly reason: string
}

/** Which calls a hook is for; what is absent holds for all. */
export interface HookFilter {
  /** Over the name that hooks see: names split by `|`, else an unanchored regular expression (reference: authority, 7.1). */
  readonly matcher?: string
  /** The server's own name (known-quirks, row 15). */
  readonly server?: string
  /** The environment that the server belongs to. */
  readonly environment?: string
}

/** One handler of one group of `[[hooks.<event>]]`. */
export interface HookEntry extends HookFilter {
  readonly event: HookEvent
  readonly handler: CommandHook | McpToolHook | BrokenHook
  /** `<file>:<event>:<group>:<handler>`: what `[hooks.state]` calls it. */
  readonly key: string
  readonly origin: ConfigOrigin
}

/** `[hooks.state."<key>"]`. */
export interface HookState {
  /** What the user trusted; another hook at its place has another one. */
  readonly trustedHash?: string
  readonly enabled?: boolean
}

/** `[hooks]` of one file. */
export interface HookSettings {
  readonly entries: readonly HookEntry[]
  readonly states: ReadonlyMap<string, HookState>
}
