import type { HookEvent, HookFilter } from '../../config/index.js'
import type { HookRefusedError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'

/** A call as hooks are asked about it. Made by whoever carries it out, after its server is known. */
export interface HookCall {
  readonly threadId: string
  readonly turnId: string | null
  readonly callId: string
  /** What matchers are compared with: the canonical full name (reference: identity-and-names, 6). */
  readonly toolName: string
  /** The arguments; what a model wrote that is no JSON stays text. */
  readonly toolInput: JsonValue
  /** Null: a resource function that asks all servers. */
  readonly key: ServerKey | null
  /** The server's own name of the tool, or the name of the function. */
  readonly tool: string
  readonly executionEnvironment: string | null
  /** Working directory of the environment that owns the server, if that is known. */
  readonly ownerCwd: string | null
  /** Working directory of the primary environment. */
  readonly cwd: string
  readonly model?: string
  /** Default `default`. */
  readonly permissionMode?: string
  readonly transcriptPath?: string
  readonly rewriting: RewriteRule
}

/**
 * What a hook may change (reference: authority, 7.5). `arguments`: all of the arguments, which select no server.
 * `owned`: anything but the members that select one. `members`: these alone; others are left out.
 */
export type RewriteRule =
  | { readonly is: 'arguments' }
  | {
      readonly is: 'owned'
      readonly selecting: readonly SelectingMember[]
      /** Whether an environment id, with the server as it was named, leads where the call goes anyway (known-quirks, row 8). */
      readonly leadsToOwner?: (environmentId: string) => boolean
    }
  | { readonly is: 'members'; readonly names: readonly string[] }

export type SelectingMember = 'server' | 'environment_id'

/** What the hooks before a call say. `context` is for the model, beside the result. */
export type PreOutcome =
  | {
      readonly is: 'go'
      /** The arguments that count from here on. */
      readonly input: JsonValue
      readonly isRewritten: boolean
      readonly context: readonly string[]
    }
  | { readonly is: 'refused'; readonly error: HookRefusedError; readonly context: readonly string[] }

/** What they say to a request for permission: any deny wins, an allow is for this once. */
export type PermissionOutcome =
  /** `isManaged`: one of the administrator's hooks does. */
  | { readonly is: 'allow'; readonly isManaged: boolean }
  | { readonly is: 'deny'; readonly error: HookRefusedError }
  | { readonly is: 'none' }

/** What they say to a result. */
export interface PostOutcome {
  /** What the model is told instead of the result. */
  readonly replacement?: string
  /** Whether a hook wants the turn to end. */
  readonly isStop: boolean
  readonly context: readonly string[]
}

/** The JSON that a hook gets (reference: authority, 7.2), with our own members after the old ones (known-quirks, row 31). */
export type HookInput = JsonObject

/**
 * A hook inside this process. What it returns is read as the JSON that a command prints; nothing: no opinion. It can't be
 * stopped when its time is over, only be left behind: `signal` tells it.
 */
export interface FunctionHook extends HookFilter {
  readonly event: HookEvent
  readonly name: string
  run(input: HookInput, signal: AbortSignal): JsonObject | undefined | Promise<JsonObject | undefined>
  /** Milliseconds; 600,000. */
  readonly timeoutMs?: number
  readonly statusMessage?: string
  /** Default `allow`. */
  readonly onFailure?: 'allow' | 'block'
}

/** Calls a tool for a hook: without approval and without hooks. Rejects when the name is ambiguous. */
export type HookToolCaller = (
  call: {
    readonly server: string
    readonly environment?: string
    readonly tool: string
    readonly arguments: JsonObject
  },
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
) => Promise<JsonObject>

export type HookSource = 'managed' | 'user' | 'project' | 'file' | 'embedded' | 'host'

/** `managed` and `trusted` hooks run; `modified`: another hook was trusted at this place. */
export type HookTrust = 'managed' | 'untrusted' | 'trusted' | 'modified'

/** A hook as it is known here, whether it runs or not. */
export interface HookListing extends HookFilter {
  readonly event: HookEvent
  readonly key: string
  /** `broken`: it can't be read, and fails in place of what it should be. */
  readonly handlerType: 'command' | 'mcp_tool' | 'function' | 'broken'
  readonly source: HookSource
  /** Its file; null for those of the host program. */
  readonly sourcePath: string | null
  readonly displayOrder: number
  readonly trust: HookTrust
  readonly isEnabled: boolean
  /** Of the hook as it is now; null for those of the host program. */
  readonly currentHash: string | null
}

export type HookRunStatus = 'running' | 'completed' | 'failed' | 'blocked' | 'stopped'

export interface HookRunEntry {
  readonly kind: 'warning' | 'stop' | 'feedback' | 'context' | 'error'
  readonly text: string
}

/** One run of one hook (reference: authority, 7.6). Times are milliseconds since 1970. */
export interface HookRun {
  readonly id: string
  readonly eventName: 'preToolUse' | 'permissionRequest' | 'postToolUse'
  readonly handlerType: HookListing['handlerType']
  readonly executionMode: 'sync'
  readonly scope: 'turn'
  readonly sourcePath: string | null
  readonly source: HookSource
  readonly displayOrder: number
  readonly status: HookRunStatus
  readonly statusMessage: string | null
  readonly startedAt: number
  readonly completedAt: number | null
  readonly durationMs: number | null
  readonly entries: readonly HookRunEntry[]
}

/** `hook/started` and `hook/completed`. */
export interface HookReport {
  readonly type: 'hook/started' | 'hook/completed'
  readonly threadId: string
  readonly turnId: string | null
  readonly run: HookRun
}
