import type { PermissionAuthority } from '../catalog/index.js'
import type { CacheHint } from '../connections/index.js'
import type { ReeveError } from '../errors.js'
import type { ServerKey, ToolName } from '../identity/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { TurnApprovals } from './approval-surface.js'
import type { ModelCallFacts, TurnFacts } from './turn-meta.js'

/** One visible tool of a step. `definition` is the server's own object, whole and frozen. */
export interface StepTool extends ToolName {
  readonly key: ServerKey
  /** The raw name on the wire. */
  readonly tool: string
  readonly definition: JsonObject
  /**
   * What a model is told: the server's text, the plugin that the server belongs to, and the tool's own name where the one
   * shown doesn't tell it. Absent: nothing.
   */
  readonly description?: string
  /** Whose permission profile governs a call of it. */
  readonly authority: PermissionAuthority<JsonObject | null>
  /** False while the tool is only known from the cache; a call then waits for the server. */
  readonly live: boolean
  /** False for tools that the server keeps for its apps (`_meta.ui.visibility` without `model`). */
  readonly modelVisible: boolean
}

/** What one namespace offers a model. */
export interface Namespace {
  readonly name: string
  readonly description: string
  readonly key: ServerKey
  readonly tools: readonly StepTool[]
}

export interface ToolCall {
  readonly namespace: string
  readonly name: string
  /** Absent = none sent. Must be an object to be sent. */
  readonly arguments?: JsonValue
  /** The caller's `_meta`. Sandbox and routing members are removed. */
  readonly _meta?: JsonObject
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (params: JsonObject) => void
  /** Milliseconds; the smaller of this and the server's own. */
  readonly timeoutMs?: number
  readonly origin?: unknown
  /** As in `RequestOptions`: whether a result that asks for input is answered here or handed to the caller. */
  readonly inputRequired?: 'answer' | 'return'
  /** Further members of the request's params, relayed as they are: `inputResponses`, `requestState`, `task`, unknown ones. */
  readonly params?: JsonObject
  readonly logLevel?: string
  /** Told what hooks have to say to the model, beside the result. */
  readonly onContext?: (text: string) => void
  /** Told as the files in the arguments are uploaded, before the call is sent. */
  readonly onUpload?: (progress: FileUploadProgress) => void
}

/** A step of a file's upload is done: it is announced, its bytes are stored, the backend has it. */
export interface FileUploadProgress {
  /** The name, without folders. */
  readonly file: string
  readonly bytes: number
  readonly step: 'create' | 'store' | 'finalise'
}

export interface ModelCallOptions extends CallOptions {
  /** What servers are told of this call, where the step was taken with `turn`. */
  readonly call?: ModelCallFacts
}

/** A frozen view: what is offered and how each call is bound. A changed definition refuses the call. */
export interface Step {
  /** For a model: visible tools only. */
  readonly namespaces: readonly Namespace[]
  /** All tools, in the order offered; those hidden from the model only when the thread was started with `appTools`. */
  readonly tools: readonly StepTool[]
  /** The shortest time and narrowest scope of the servers' own listings; nothing may be kept of legacy servers. */
  readonly cacheHint: CacheHint
  /** The resource functions; none when the thread has no server. */
  readonly functions: readonly FunctionTool[]
  /** Carries one of `functions` out. `args` as the model wrote them: JSON text, or parsed. */
  callFunction(name: string, args: JsonValue | undefined, options?: CallOptions): Promise<FunctionOutput>
  /** The `CallToolResult` as the server sent it, `isError` included. */
  call(call: ToolCall, options?: ModelCallOptions): Promise<JsonObject>
  /** The same by flat name, for clients without namespaces. */
  callFlat(
    flat: string,
    args: JsonValue | undefined,
    options?: ModelCallOptions & { readonly _meta?: JsonObject },
  ): Promise<JsonObject>
}

/** A step for those who call tools: without the functions that only a model is offered. */
export type ToolStep = Omit<Step, 'functions' | 'callFunction'>

/** What a model is offered beside the tools of servers: a plain function (reference: tool-calls, 9). */
export interface FunctionTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
  /** Arguments may leave out what the schema does not require. */
  readonly strict: false
}

/** A function's answer. Failures are answers too: what the model is told, and in `error` what it was. */
export interface FunctionOutput {
  readonly output: string
  readonly error?: ReeveError
  /** What the call was about, for the thread item; absent when it failed before that was known. */
  readonly item?: {
    readonly server: string
    readonly environment: string | null
    readonly status: 'completed' | 'failed'
  }
}

export interface StepOptions {
  readonly signal?: AbortSignal
  readonly wait?: 'grace' | 'none' | 'all'
  /** How calls of the step are approved, where that is not as in the rest of the thread. */
  readonly approvals?: TurnApprovals
  /**
   * The turn of a model that the step is for, as servers are told of it in each call (reference: tool-calls, 5.1). Absent:
   * they are told of none.
   */
  readonly turn?: TurnFacts
}
