import type { CallAuthority } from '../authority/index.js'
import { isHostOwnedApps, type PermissionAuthority } from '../catalog/index.js'
import type { CacheHint, CapturedServer, PreparedCall } from '../connections/index.js'
import { UnsupportedCallError } from '../errors.js'
import { type NamingStrategy, type ServerKey, ServerKeyMap } from '../identity/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { CallApprovals } from './approval.js'
import type { CallApps } from './apps/call-apps.js'
import { narrowestHint } from './cache-hint.js'
import type { CallAnalytics } from './call-analytics.js'
import type { CallAudit, CallRecord } from './call-audit.js'
import { callAuthority, type IssuedAuthority } from './call-authority.js'
import type { CallHooks, HookedCall } from './call-hooks.js'
import { outgoing, payloadOf } from './call-lease.js'
import type { LauncherSource } from './call-sandbox.js'
import type { Profile } from './composition.js'
import type { CallFiles } from './files/call-files.js'
import { type FunctionHost, ResourceFunctions } from './functions/resource-functions.js'
import { withProgress } from './meta.js'
import { type Offered, offer } from './offered.js'
import { type ModelCallFacts, modelCallMembers, type Turn, withoutTurnMembers } from './turn-meta.js'
import type {
  CallOptions,
  FunctionOutput,
  FunctionTool,
  ModelCallOptions,
  Namespace,
  Step,
  StepTool,
  ToolCall,
} from './types.js'

/** What a thread lends to its steps. */
export interface StepHost {
  readonly threadId: string
  readonly naming: NamingStrategy
  readonly multiEnvironment: boolean
  readonly appTools: boolean
  readonly approvals: CallApprovals
  readonly audit: CallAudit
  readonly hooks: CallHooks
  readonly analytics: CallAnalytics
  readonly files: CallFiles
  readonly apps: CallApps
  readonly functions: FunctionHost
  readonly launchers: LauncherSource
}

/** What holds when a step is taken. */
export interface StepMoment {
  /** The environments that are selected. */
  readonly selected: readonly string[]
  readonly authorityOf: (key: ServerKey) => PermissionAuthority<Profile>
  /** What the calls of a server are issued with. */
  readonly issue: (server: CapturedServer) => IssuedAuthority | undefined
  /** That of the model which the step is for. */
  readonly turn: Turn | undefined
}

/** Freezes what was captured into a step: names, and for each tool the one call that it stands for. */
export function takeStep(
  servers: readonly CapturedServer[],
  { selected, authorityOf, issue, turn }: StepMoment,
  host: StepHost,
): Step {
  const offered = offer(
    servers.map((server) => {
      const { key, tools, live, inventory, source } = server
      return {
        key,
        tools: host.files.shown(server, host.apps.enabled(server, tools)),
        isApps: isHostOwnedApps(server),
        live,
        instructions: inventory?.instructions,
        authority: authorityOf(key),
        ...('plugin' in source && { pluginName: source.plugin.displayName }),
      }
    }),
    host,
  )
  const hint = narrowestHint(servers.map(({ inventory }) => inventory?.cacheHints?.tools))
  const functions = new ResourceFunctions(servers, selected, host.functions)
  const byKey = new ServerKeyMap<StepServer>()
  for (const server of servers) {
    const issued = issue(server)
    if (issued !== undefined) byKey.set(server.key, { server, issued })
  }
  return new FrozenStep(offered, hint, functions, byKey, { ...host, turn })
}

/** A server as the step found it, and what its calls are issued with. */
interface StepServer {
  readonly server: CapturedServer
  readonly issued: IssuedAuthority
}

class FrozenStep implements Step {
  readonly namespaces: readonly Namespace[]
  readonly tools: readonly StepTool[]
  readonly cacheHint: CacheHint
  readonly functions: readonly FunctionTool[]
  readonly #functions: ResourceFunctions
  readonly #byFlat = new Map<string, StepTool>()
  readonly #byPair = new Map<string, StepTool>()
  readonly #servers: ServerKeyMap<StepServer>
  readonly #host: StepHost & Pick<StepMoment, 'turn'>

  constructor(
    offered: Offered,
    cacheHint: CacheHint,
    functions: ResourceFunctions,
    servers: ServerKeyMap<StepServer>,
    host: StepHost & Pick<StepMoment, 'turn'>,
  ) {
    const { namespaces, tools } = offered
    this.namespaces = namespaces
    this.tools = tools
    this.cacheHint = cacheHint
    this.functions = functions.tools
    this.#functions = functions
    this.#servers = servers
    this.#host = host
    for (const tool of tools) {
      if (!this.#byFlat.has(tool.flat)) this.#byFlat.set(tool.flat, tool)
      if (tool.modelVisible) this.#byPair.set(pair(tool.namespace, tool.name), tool)
    }
    Object.freeze(this)
  }

  async callFunction(name: string, args: JsonValue | undefined, options: CallOptions = {}): Promise<FunctionOutput> {
    const preparation = this.#functions.prepare(name, args)
    if (preparation.is === 'refused')
      return this.#host.audit.function(name, args, undefined, async () => preparation.output)
    const { call } = preparation
    return this.#host.audit.function(name, args, call.key, (record) =>
      this.#host.hooks.function(name, args, call, this.#functions, { options, record }),
    )
  }

  async call(call: ToolCall, options: ModelCallOptions = {}): Promise<JsonObject> {
    const tool = this.#byPair.get(pair(call.namespace, call.name))
    if (tool === undefined) throw new UnsupportedCallError(call.namespace, call.name)
    return this.#carryOut(tool, call.arguments, call._meta, withProgress(options))
  }

  async callFlat(
    flat: string,
    args: JsonValue | undefined,
    { _meta, ...options }: ModelCallOptions & { readonly _meta?: JsonObject } = {},
  ): Promise<JsonObject> {
    const tool = this.#byFlat.get(flat)
    if (tool === undefined) throw new UnsupportedCallError('', flat)
    return this.#carryOut(tool, args, _meta, options)
  }

  async #carryOut(
    stepTool: StepTool,
    args: JsonValue | undefined,
    meta: JsonObject | undefined,
    { call: facts, ...options }: ModelCallOptions,
  ): Promise<JsonObject> {
    const { key, tool } = stepTool
    const captured = this.#servers.get(key)
    if (captured === undefined) throw new UnsupportedCallError('', tool)
    const { server, issued } = captured
    const modelsId = this.#host.turn === undefined ? undefined : facts?.callId
    const authority = callAuthority(issued, this.#host.approvals.modeOf(server, tool, issued), modelsId)
    return this.#host.audit.tool({ key, config: server.config, tool, authority, arguments: args }, (record) =>
      this.#host.hooks.tool({ authority, name: stepTool, tool, arguments: args }, options, record, (hooked) =>
        this.#host.analytics.tool({ server, tool: stepTool, turn: this.#host.turn, facts }, record, (told) =>
          this.#make(server, authority, { tool, hooked, meta, facts, options, record: told }),
        ),
      ),
    )
  }

  async #make(
    offered: CapturedServer,
    authority: CallAuthority,
    { tool, hooked, meta, facts, options, record }: CallInHand,
  ): Promise<JsonObject> {
    const place = `${authority.key.name}/${tool}`
    const { source } = offered
    const { turn, apps } = this.#host
    const ids = {
      ...apps.metaOf(offered, tool, authority.callId),
      ...('plugin' in source && { plugin_id: source.plugin.id }),
      threadId: this.#host.threadId,
    }
    const payload =
      turn === undefined
        ? payloadOf(place, hooked.arguments, meta, ids)
        : payloadOf(place, hooked.arguments, withoutTurnMembers(meta), modelCallMembers(turn, facts ?? {}, ids))
    const server = await this.#host.approvals.bound(offered, tool, authority, options.signal)
    const prepared: PreparedCall = server.prepareCall(tool)
    const { definition } = prepared.binding
    apps.refuseDisabled(server, definition)
    const remember = await this.#host.approvals.approve(
      server,
      { tool, definition, authority, payload, record, permission: hooked.permission },
      options,
    )
    const allowed = { server, tool, definition, authority, payload, remember }
    const { sent, prepare, options: told } = outgoing(allowed, this.#host, options)
    record?.sending()
    const result = await prepared.run(sent, { ...told, ...(prepare && { prepare }) })
    return apps.settled(allowed, result, options)
  }
}

/** A call of a tool, as it was made. */
interface CallInHand {
  readonly tool: string
  readonly hooked: HookedCall
  readonly meta: JsonObject | undefined
  readonly facts: ModelCallFacts | undefined
  readonly options: CallOptions
  readonly record: CallRecord
}

function pair(namespace: string, name: string): string {
  return JSON.stringify([namespace, name])
}
