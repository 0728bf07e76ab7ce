import { randomUUID } from 'node:crypto'
import {
  type CallAuthority,
  type FunctionHook,
  type HookCall,
  type HookListing,
  type HookReport,
  Hooks,
  type HookToolCaller,
  type PermissionHookOutcome,
  type RewriteRule,
} from '../authority/index.js'
import type { MergedHooks } from '../config/index.js'
import type { HostVariables } from '../connections/index.js'
import type { Environment } from '../environments/index.js'
import { codexNaming, hookName, type ServerKey, sameKey, type ToolName } from '../identity/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { CallRecord } from './call-audit.js'
import type { PreparedFunction, ResourceFunctions } from './functions/resource-functions.js'
import type { CallOptions, FunctionOutput } from './types.js'

/** What a thread runs hooks with. */
export interface CallHooksHost {
  readonly threadId: string
  readonly functions: readonly FunctionHook[]
  readonly onReport: ((report: HookReport) => void) | undefined
  /** The host, where commands run whatever environment is selected. */
  readonly local: Pick<Environment, 'spawn'> | undefined
  readonly env: HostVariables
  readonly cwd: string
  readonly multiEnvironment: boolean
  readonly callTool: HookToolCaller
  /** Working directory of the primary environment, or of another one that is selected. */
  readonly cwdOf: (environment?: string) => string | undefined
}

/** A call of a tool, once it is known whose it is. */
export interface CallToHook {
  readonly authority: Pick<CallAuthority, 'key' | 'executionEnvironment' | 'turnId' | 'callId'>
  readonly name: Pick<ToolName, 'namespace' | 'name'>
  readonly tool: string
  readonly arguments: JsonValue | undefined
}

/** @param managedOnly whether only the administrator's hooks may allow it; any may deny */
type PermissionHooks = (
  signal: AbortSignal,
  managedOnly: boolean,
) => Promise<Exclude<PermissionHookOutcome, { readonly kind: 'unasked' }>>

/** A call between the hooks before it and those after it. */
export interface HookedCall {
  readonly arguments: JsonValue | undefined
  readonly permission: PermissionHooks | undefined
}

/** Runs the hooks of one thread around its calls, in the order of the reference (authority, 7.3). */
export class CallHooks {
  readonly #host: CallHooksHost
  #hooks: Hooks
  /** The administrator's alone. */
  #managed: Hooks

  constructor(host: CallHooksHost, configured: MergedHooks) {
    this.#host = host
    this.#hooks = this.#made(configured, host.functions)
    this.#managed = this.#made(managedOnly(configured), [])
  }

  /** Every hook, with what keeps it from running. */
  get list(): readonly HookListing[] {
    return this.#hooks.list
  }

  /** What holds for the calls that begin from now on. */
  configure(configured: MergedHooks): void {
    this.#hooks = this.#made(configured, this.#host.functions)
    this.#managed = this.#made(managedOnly(configured), [])
  }

  /**
   * @param make makes the call with the arguments that count
   * @throws HookRefusedError and whatever the call throws
   */
  tool(
    call: CallToHook,
    options: CallOptions,
    record: CallRecord,
    make: (hooked: HookedCall) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    return this.#hooks.hasAny
      ? this.#hooked(this.#hooks, call, options, record, make)
      : make({ arguments: call.arguments, permission: undefined })
  }

  /**
   * The same for a call that belongs to no step. What a model does is what hooks are for, so only the administrator's run
   * here (reference: tool-calls, 10): what is demanded of a call is not left out by making it in another way.
   */
  direct(
    call: Omit<CallToHook, 'name'>,
    options: CallOptions,
    record: CallRecord,
    make: (hooked: HookedCall) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    if (!this.#managed.hasAny) return make({ arguments: call.arguments, permission: undefined })
    return this.#hooked(this.#managed, { ...call, name: this.#nameOf(call) }, options, record, make)
  }

  /** As a step names it in which nothing else is. */
  #nameOf({ authority: { key }, tool }: Pick<CallToHook, 'authority' | 'tool'>): CallToHook['name'] {
    const [named] = codexNaming({ multiEnvironment: this.#host.multiEnvironment }).assign([{ key, tool }])
    return named ?? { namespace: key.name, name: tool }
  }

  async #hooked(
    hooks: Hooks,
    call: CallToHook,
    { signal, onContext }: CallOptions,
    record: CallRecord,
    make: (hooked: HookedCall) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const asked = this.#hookCall({ ...call, ...call.authority }, hookName(call.name), { is: 'arguments' })
    const before = await hooks.pre(asked, signal)
    for (const text of before.context) onContext?.(text)
    if (before.is === 'refused') {
      record?.decided('rejected', 'hook')
      throw before.error
    }
    if (before.isRewritten) record?.rewritten(before.input)
    const counting = { ...asked, toolInput: before.input }
    const result = await make({
      arguments: before.isRewritten ? before.input : call.arguments,
      permission: permissionOf(hooks, counting),
    })
    if (!isComplete(result)) return result
    const after = await hooks.post(counting, result, signal)
    for (const text of after.context) onContext?.(text)
    return after.replacement === undefined ? result : instead(after.replacement, after.isStop)
  }

  /** The same for a resource function, which is understood and bound before any hook is asked (reference: tool-calls, 9.6). */
  async function(
    name: string,
    args: JsonValue | undefined,
    prepared: PreparedFunction,
    functions: ResourceFunctions,
    { options, record }: { readonly options: CallOptions; readonly record: CallRecord },
  ): Promise<FunctionOutput> {
    const hooks = this.#hooks
    if (!hooks.hasAny) return run(prepared, options, record)
    const { signal, onContext } = options
    const input = parsed(args)
    const asked = this.#hookCall(
      { key: prepared.key, tool: name, executionEnvironment: null, arguments: input },
      name,
      this.#owned(name, input, prepared, functions),
    )
    const before = await hooks.pre(asked, signal)
    for (const text of before.context) onContext?.(text)
    if (before.is === 'refused') {
      record?.decided('rejected', 'hook')
      return { output: before.error.message, error: before.error }
    }
    let counting = prepared
    if (before.isRewritten) {
      record?.rewritten(before.input)
      const again = functions.prepare(name, before.input)
      if (again.is === 'refused') return again.output
      counting = again.call
    }
    const output = await run(counting, options, record)
    if (output.error !== undefined) return output
    const after = await hooks.post({ ...asked, toolInput: before.input }, output.output, signal)
    for (const text of after.context) onContext?.(text)
    return after.replacement === undefined ? output : { ...output, output: after.replacement }
  }

  #owned(name: string, input: JsonValue, prepared: PreparedFunction, functions: ResourceFunctions): RewriteRule {
    if (!this.#host.multiEnvironment) return { is: 'owned', selecting: ['server'] }
    const leadsToOwner = (environmentId: string): boolean => {
      if (prepared.key === undefined || !isObject(input)) return false
      const there = functions.prepare(name, { ...input, environment_id: environmentId })
      return there.is === 'prepared' && there.call.key !== undefined && sameKey(there.call.key, prepared.key)
    }
    return { is: 'owned', selecting: ['server', 'environment_id'], leadsToOwner }
  }

  #hookCall(
    call: Pick<CallToHook, 'tool' | 'arguments'> & {
      readonly key: ServerKey | undefined
      readonly executionEnvironment: string | null
      readonly turnId?: string | null
      readonly callId?: string
    },
    toolName: string,
    rewriting: RewriteRule,
  ): HookCall {
    const { threadId, cwd, cwdOf } = this.#host
    const { executionEnvironment } = call
    return {
      threadId,
      turnId: call.turnId ?? null,
      callId: call.callId ?? randomUUID(),
      toolName,
      toolInput: call.arguments ?? {},
      key: call.key ?? null,
      tool: call.tool,
      executionEnvironment,
      ownerCwd: (executionEnvironment === null ? undefined : cwdOf(executionEnvironment)) ?? null,
      cwd: cwdOf() ?? cwd,
      rewriting,
    }
  }

  #made(configured: MergedHooks, functions: readonly FunctionHook[]): Hooks {
    const { onReport, local, env, cwd, callTool } = this.#host
    return new Hooks({
      configured,
      functions,
      callTool,
      ...(local && { commands: { environment: local, env, cwd } }),
      ...(onReport && { onReport }),
    })
  }
}

function managedOnly({ managed }: MergedHooks): MergedHooks {
  return { ...(managed && { managed }), entries: [], states: new Map() }
}

function run(prepared: PreparedFunction, options: CallOptions, record: CallRecord): Promise<FunctionOutput> {
  record?.decided('run', 'mode')
  record?.sending()
  return prepared.run(options)
}

function permissionOf(hooks: Hooks, call: HookCall): PermissionHooks | undefined {
  if (!hooks.has('PermissionRequest')) return undefined
  return async (signal, managedOnly) => {
    const outcome = await hooks.permission(call, signal)
    if (outcome.is === 'deny') return { kind: 'deny', message: outcome.error.message }
    return { kind: outcome.is === 'allow' && (outcome.isManaged || !managedOnly) ? 'allow' : 'none' }
  }
}

/** A result that asks for input, or stands for a task, is none yet. */
function isComplete({ resultType, task }: JsonObject): boolean {
  return (resultType === undefined || resultType === 'complete') && task === undefined
}

/** The member of a result's `_meta` that says that a hook wants the turn to end: only the client can end it. */
const STOP_META = 'reeve/hook_stop'

/** An error, since a client may hold the result to the schema of its tool otherwise. */
function instead(text: string, isStop: boolean): JsonObject {
  return { content: [{ type: 'text', text }], isError: true, ...(isStop && { _meta: { [STOP_META]: true } }) }
}

/** As the model wrote them; what is no JSON stays text. */
function parsed(args: JsonValue | undefined): JsonValue {
  if (typeof args !== 'string') return args ?? {}
  if (args.trim() === '') return {}
  try {
    return JSON.parse(args) as JsonValue
  } catch {
    return args
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
