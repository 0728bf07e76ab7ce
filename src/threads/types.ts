import type { AuthManager, RuntimeAuthMode } from '../auth/index.js'
import type { FunctionHook, HookReport, Reviewer } from '../authority/index.js'
import type { CatalogProblem, PermissionAuthority } from '../catalog/index.js'
import type {
  CacheHint,
  ClientProfile,
  ConnectionEvent,
  ReadyClient,
  ServerRequestHandler,
  ServerStatus,
} from '../connections/index.js'
import type { CapabilityRoot, DiscoveryProblem } from '../environments/index.js'
import type { ReeveError } from '../errors.js'
import type { ServerKey, ToolName } from '../identity/index.js'
import type { ApprovalPolicy } from '../permissions/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type {
  ApprovalAnswer,
  ApprovalRequest,
  ApprovalTarget,
  ElicitationOptions,
  ThreadElicitations,
  ThreadPauses,
  TurnApprovals,
} from './approval-surface.js'
import type { ModelCallFacts, TurnFacts } from './turn-meta.js'

export type * from './approval-surface.js'
export type { ModelCallFacts, TurnFacts }

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

/** Names one server. `environment` absent: thread-wide first, else the only owner, else refused with the choices. */
export interface ServerSelector {
  readonly server: string
  readonly environment?: string | null
}

export interface ListPage {
  readonly key: ServerKey
  /** The items as the server sent them. */
  readonly items: readonly JsonObject[]
  readonly nextCursor?: string
  /** Absent for legacy servers, which say nothing of it. */
  readonly cacheHint?: CacheHint
}

/** Everything but tools, always by exact key. `listAll` asks ready servers in parallel; failed ones are reported aside. */
export interface Listing {
  list(selector: ServerSelector & { readonly cursor?: string }, options?: CallOptions): Promise<ListPage>
  listAll(options?: ListAllOptions): Promise<AllPages>
}

export interface ListAllOptions extends CallOptions {
  /** Which servers are waited for while they come up, as in a step. Default `grace`. */
  readonly wait?: 'grace' | 'none' | 'all'
  /**
   * Milliseconds after which there is an answer whatever is missing. A server that was not heard by then, or whose
   * environment is on its way back, is answered for by what it listed last. Absent: environments are looked into, and
   * servers have 30 s.
   */
  readonly withinMs?: number
}

export interface AllPages {
  readonly pages: readonly ListPage[]
  readonly failures: readonly { readonly key: ServerKey; readonly error: string }[]
  /** False while a server is coming up, or was answered for: another listing may say more. */
  readonly isWhole: boolean
}

export interface Resources extends Listing {
  readonly templates: Listing
  /** The `ReadResourceResult`, whole. */
  read(
    selector: ServerSelector & { readonly uri: string; readonly _meta?: JsonObject },
    options?: CallOptions,
  ): Promise<JsonObject>
  subscribe(selector: ServerSelector & { readonly uri: string }, options?: CallOptions): Promise<void>
  unsubscribe(selector: ServerSelector & { readonly uri: string }, options?: CallOptions): Promise<void>
}

export interface Prompts extends Listing {
  get(
    selector: ServerSelector & {
      readonly name: string
      readonly arguments?: JsonObject
      readonly _meta?: JsonObject
    },
    options?: CallOptions,
  ): Promise<JsonObject>
}

export type ThreadEvent =
  | ConnectionEvent
  /** A selected environment came or went (reference: `thread/environment/connected`, `…/disconnected`). */
  | {
      readonly type: 'environment'
      readonly environment: string
      readonly status: 'connected' | 'disconnected'
      readonly error?: string
    }
  /** One plugin, root, name or environment that does not work as asked; once per cause, and again only after it was well. */
  | { readonly type: 'problem'; readonly problem: DiscoveryProblem | CatalogProblem }
  /**
   * How an automatic review goes (reference: authority, 5): `item/autoApprovalReview/started`, `guardianWarning`,
   * `item/autoApprovalReview/completed`, with the params of the reference.
   */
  | { readonly type: 'review'; readonly method: string; readonly params: JsonObject }

/** An environment of a thread's or turn's selection. */
export interface SelectedEnvironment {
  readonly id: string
  /** Absolute, POSIX or Windows. Absent: the entry's own, else the thread's. */
  readonly cwd?: string
  /** Absent: `cwd` alone. */
  readonly workspaceRoots?: readonly string[]
  /**
   * The permission profile that its servers are judged by and told, in its wire shape; unknown members survive. Absent: the
   * host's, unless the configuration or `ThreadOptions.permissions` says what holds there.
   */
  readonly permissions?: JsonObject
}

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

/** What a thread owns; never a process-wide default. */
export interface ThreadOptions {
  /**
   * Ordered; the first is primary. Absent: what the configuration selects by default; empty: none. Unknown ids, an id twice
   * and a cwd that is absolute in neither style are refused (reference: catalog, 8.2).
   */
  readonly environments?: readonly SelectedEnvironment[]
  /**
   * Name of a permission profile of the configuration, or of a preset, for every environment that has none handed over;
   * counts before what the configuration says of the environment. Absent: as the configuration says, else `read-only`.
   */
  readonly permissions?: string
  /**
   * Connects to the selected environments at once, in the background, and not only when they are needed. Default true; false
   * for a thread of a single request.
   */
  readonly warm?: boolean
  /** Plugin folders in environments, beside those of the configuration; order counts. Unselected environments give none. */
  readonly capabilityRoots?: readonly CapabilityRoot[]
  /**
   * Keeps the selection under the thread's id, so that `Reeve.resumeThread` restores it. Default false: threads of clients
   * that come and go are never taken up again, and need no write for each. True by default for one that is.
   */
  readonly persist?: boolean
  /** Selection and roots of this kept thread, where these options name none: a fork. */
  readonly from?: string
  /** A name alone means the server of the last root, and a thread-wide server hides those of its name, as in the reference. */
  readonly compatibility?: boolean
  /** What servers are told about this client. Absent: Reeve itself, with no capability that nobody here would answer. */
  readonly client?: Partial<ClientProfile>
  /**
   * Whether the resource functions take a scoped server by its name alone, while several environments are selected, where
   * only one of them has it. Default false, as in the reference: they ask for `environment_id` (known-quirks, row 6).
   */
  readonly soleOwners?: boolean
  /** Default `codex`. */
  readonly naming?: 'codex' | 'readable'
  /** Also offer tools that are meant for apps, for a client that does its own filtering. Default false. */
  readonly appTools?: boolean
  /** Restricts the thread to these servers; others are not started. */
  readonly only?: readonly ServerSelector[]
  /** Default true: the start fails when a required server does. False to look at servers, whose rows then say why. */
  readonly enforceRequired?: boolean
  /** Milliseconds that a step waits for optional servers; 0 waits for their startup. Default 1000. */
  readonly graceMs?: number
  /**
   * Who is signed in to the first-party backend, for this thread alone. Absent: nobody, and there is no other to use. Only
   * for threads of this process.
   */
  readonly auth?: AuthManager
  /** How requests to the first-party backend are authenticated, for the thread's whole life. Default: as configured now. */
  readonly runtimeAuthMode?: RuntimeAuthMode
  /**
   * Servers beside the hosted apps whose tools are given files that they declare in `_meta["openai/fileParams"]`: read where
   * the server runs, under the profile that governs it, and uploaded with `auth`. Default: none.
   */
  readonly fileParameters?: readonly ServerSelector[]
  /** For whom the thread works: servers are shared among the threads of one principal only. Default: the local user. */
  readonly principal?: string
  /**
   * `shared`: servers are used together with the other shared threads of the same principal whose clients have the same
   * capabilities; what a server sends still reaches only the thread that it is for. Servers are then told of Reeve, not
   * of the client. `isolated` (default): every server is this thread's own.
   */
  readonly sharing?: 'shared' | 'isolated'
  /** Answers sampling, elicitation and roots requests. Absent: method not found. */
  readonly onRequest?: ServerRequestHandler
  readonly onEvent?: (event: ThreadEvent) => void
  /**
   * When somebody is asked about a call (reference: authority, 2). Absent: where the configuration says so of the tool,
   * and no call is asked for that nobody has configured. Under a policy, what servers ask is judged by it, too (6).
   */
  readonly approvalPolicy?: ApprovalPolicy
  /**
   * Judges in a person's place what would be asked on request: calls, and what servers want to have approved (reference:
   * authority, 5). Its throw fails what it was asked about. Only for threads of this process.
   */
  readonly reviewer?: Reviewer
  /** Milliseconds that it has for each. Default 90 000. */
  readonly reviewTimeoutMs?: number
  /** Milliseconds that a person has to answer about a call, which is refused then. Default 600 000. */
  readonly approvalTimeoutMs?: number
  /** Only for threads of this process. */
  readonly elicitations?: ElicitationOptions
  /**
   * Hooks of the program, beside those of the configuration (reference: authority, 7): around calls of steps and resource
   * functions; `callTool` has none. Only for threads of this process.
   */
  readonly hooks?: readonly FunctionHook[]
  /** Told of every run of a hook, before and after it. Only for threads of this process. */
  readonly onHook?: (report: HookReport) => void
  /**
   * Asked before a call that needs approval. Absent: `onRequest` is, with an elicitation, if `client` declares that it
   * shows forms; else such calls are refused.
   */
  readonly onApproval?: (request: ApprovalRequest, signal: AbortSignal | undefined) => Promise<ApprovalAnswer>
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

export interface Thread extends AsyncDisposable {
  readonly id: string
  /**
   * Takes the current state as a frozen step: waits for required servers, and for the others within the shared grace.
   * `wait: 'none'` takes what is known now (cache and ready servers); `wait: 'all'` waits for every startup to end.
   *
   * @throws InvalidArgumentsError for a `turn` that can't be sent
   */
  step(options?: StepOptions): Promise<Step>
  /** A call by server and raw tool name, outside any step (reference: tool-calls, 10). Filters apply. */
  callTool(
    call: ServerSelector & { readonly tool: string; readonly arguments?: JsonValue; readonly _meta?: JsonObject },
    options?: CallOptions,
  ): Promise<JsonObject>
  /**
   * A tool as an approval would be given for it now: which it is, and what it would be bound to. Waits for the server.
   *
   * @throws ReeveError `unknown_tool`
   */
  approvalOf(
    call: ServerSelector & { readonly tool: string },
    options?: { readonly signal?: AbortSignal },
  ): Promise<ApprovalTarget>
  readonly pauses: ThreadPauses
  readonly elicitations: ThreadElicitations
  readonly resources: Resources
  readonly prompts: Prompts
  /** `completion/complete`, params relayed. */
  complete(selector: ServerSelector & { readonly params: JsonObject }, options?: CallOptions): Promise<JsonObject>
  /** Waits for one server and gives its client, for requests that have no method here. */
  client(
    selector: ServerSelector,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ key: ServerKey; client: ReadyClient }>
  /** `logging/setLevel` to every server that has logging, now and when it comes up later. */
  setLogLevel(level: string): Promise<void>
  /** Tells servers that declared interest that the roots changed. */
  rootsChanged(): Promise<void>
  /** Status rows, one per key, without starting anything. */
  servers(): readonly ServerStatus[]
  /** What is selected now, each with its cwd and workspace roots. */
  readonly environments: readonly SelectedEnvironment[]
  /** Selects anew, for the next step and those after it. What leaves is ended, what stays keeps its processes. */
  select(environments: readonly SelectedEnvironment[]): Promise<void>
  close(): Promise<void>
}

/** A thread for those who use its servers and leave its selection as it is; it may live in another process. */
export type ToolThread = Omit<Thread, 'step' | 'environments' | 'select' | 'pauses' | 'elicitations'> & {
  step(options?: Omit<StepOptions, 'turn' | 'approvals'>): Promise<ToolStep>
}
