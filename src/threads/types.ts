import type { ReadyClient, ServerStatus } from '../connections/index.js'
import type { ServerKey } from '../identity/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { ApprovalTarget, ThreadElicitations, ThreadPauses } from './approval-surface.js'
import type { Apps } from './apps/surface.js'
import type { Prompts, Resources, ServerSelector } from './listing-surface.js'
import type { CallOptions, Step, StepOptions, ToolStep } from './step-surface.js'
import type { SelectedEnvironment } from './thread-options.js'

export type * from './approval-surface.js'
export type * from './apps/surface.js'
export type * from './listing-surface.js'
export type * from './step-surface.js'
export type * from './thread-event.js'
export type * from './thread-options.js'
export type { ModelCallFacts, TurnFacts } from './turn-meta.js'

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
  /** The hosted apps of the thread's own account. Only for threads of this process. */
  readonly apps: Apps
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
export type ToolThread = Omit<Thread, 'step' | 'environments' | 'select' | 'pauses' | 'elicitations' | 'apps'> & {
  step(options?: Omit<StepOptions, 'turn' | 'approvals'>): Promise<ToolStep>
}
