import type { AuthManager, RuntimeAuthMode } from '../auth/index.js'
import type { FunctionHook, HookReport, Reviewer } from '../authority/index.js'
import type { ClientProfile, ServerRequestHandler } from '../connections/index.js'
import type { CapabilityRoot } from '../environments/index.js'
import type { ApprovalPolicy } from '../permissions/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { ApprovalAnswer, ApprovalRequest, ElicitationOptions } from './approval-surface.js'
import type { ServerSelector } from './listing-surface.js'
import type { ThreadEvent } from './thread-event.js'

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
