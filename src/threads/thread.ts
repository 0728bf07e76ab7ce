import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { approvalsOf, type CallAuthority } from '../authority/index.js'
import type { EffectiveServer } from '../catalog/index.js'
import {
  type CapturedServer,
  type ConnectionEvent,
  ConnectionManager,
  DEFAULT_TOOL_TIMEOUT,
  isToolEnabled,
  type ReadyClient,
  type ServerStatus,
} from '../connections/index.js'
import type { CapabilityRoot } from '../environments/index.js'
import {
  ClosedError,
  NoPermissionProfileError,
  ReeveError,
  ServerDisabledError,
  StaleCatalogError,
  ToolDisabledError,
  UnknownServerError,
} from '../errors.js'
import { LOCAL_ENVIRONMENT, type ServerKey, sameKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { approvalTarget, CallApprovals } from './approval.js'
import type { CallAnalytics } from './call-analytics.js'
import { CallAudit, type CallRecord } from './call-audit.js'
import {
  callAuthority,
  type IssuedAuthority,
  issuedAuthority,
  type StepApprovals,
  stepApprovals,
} from './call-authority.js'
import { CallHooks } from './call-hooks.js'
import type { ThreadConfiguration } from './composition.js'
import { CallFiles } from './files/call-files.js'
import { HostChannel, threadElicitations } from './host-channel.js'
import { causeOf, IssuedCall } from './issued-call.js'
import { LogLevel } from './log-level.js'
import { asksEachTime, managedRule } from './managed-rules.js'
import { callersParams, withProgress } from './meta.js'
import { OPERATION_TIMEOUT, promptsOf, type Requester, resourcesOf } from './operations.js'
import { type OwningAuth, owningAuthOf } from './owning-auth.js'
import { holdClocks, threadPauses } from './pauses.js'
import { judgedQuestions, type QuestionsHost } from './questions.js'
import { reviewSettings } from './review-events.js'
import { checkRoots, type SelectedPlace } from './selection.js'
import type { ListingHost } from './server-pages.js'
import { inLease, payloadOf, type StepHost, type StepMoment, takeStep } from './step.js'
import {
  callAnalyticsOf,
  managerOptionsOf,
  placesOf,
  stepHostOf,
  type ThreadHost,
  type ThreadOrigin,
} from './thread-host.js'
import { ThreadServers } from './thread-servers.js'
import { type Turn, turnOf } from './turn-meta.js'
import type {
  ApprovalTarget,
  CallOptions,
  Prompts,
  Resources,
  SelectedEnvironment,
  ServerSelector,
  Step,
  StepOptions,
  Thread,
  ThreadElicitations,
  ThreadEvent,
  ThreadOptions,
  ThreadPauses,
} from './types.js'

/** Milliseconds that a step waits for environments which failed before. */
const DEFAULT_GRACE = 1_000

/** How a call is made that belongs to no step. */
interface DirectCall {
  readonly options: CallOptions
  readonly record: CallRecord
  readonly approval: 'asked' | 'hook'
}

/** One conversation's view of the servers: its own connections, names, and answers to what servers ask. */
export class RuntimeThread implements Thread {
  readonly id: string
  readonly pauses: ThreadPauses
  readonly elicitations: ThreadElicitations
  readonly resources: Resources
  readonly prompts: Prompts
  readonly #channel: HostChannel
  readonly #host: ThreadHost
  readonly #options: ThreadOptions
  readonly #multiEnvironment: boolean
  readonly #roots: readonly CapabilityRoot[]
  readonly #manager: ConnectionManager
  readonly #servers: ThreadServers
  readonly #step: StepHost
  readonly #approvals: CallApprovals
  readonly #audit: CallAudit
  readonly #hooks: CallHooks
  readonly #analytics: CallAnalytics
  readonly #files: CallFiles
  readonly #logLevel: LogLevel
  /** For whatever works with the first-party backend in this thread's name. */
  readonly #auth: OwningAuth | undefined
  readonly #isKept: boolean
  #closed: Promise<void> | undefined

  /** @throws SelectionError */
  constructor(host: ThreadHost, configuration: ThreadConfiguration, options: ThreadOptions, origin: ThreadOrigin = {}) {
    const { record } = origin
    this.id = origin.id ?? randomUUID()
    this.#host = host
    this.#options = options
    this.#multiEnvironment = configuration.multiEnvironment
    this.#isKept = options.persist ?? record !== undefined
    this.#auth = owningAuthOf(host.firstParty, options, configuration.runtimeAuthMode)
    this.#roots = checkRoots(options.capabilityRoots ?? record?.capabilityRoots ?? [])
    const places = placesOf(host, options.environments, record)
    const channel = new HostChannel(options)
    const judging: QuestionsHost = {
      threadId: this.id,
      channel,
      primaryEnvironment: () => this.#servers.places[0]?.id ?? null,
      authorityOf: (key) => this.#servers.authorityOf(key),
      review: reviewSettings(options, (event) => this.#tell(event)),
      hold: () => holdClocks(this.#manager.clocks),
      options,
    }
    this.#channel = channel
    this.pauses = threadPauses(
      () => this.#manager.clocks,
      () => this.#refuseWhenClosed(),
    )
    this.elicitations = threadElicitations(channel)
    this.#manager = new ConnectionManager(
      managerOptionsOf(host, options, {
        owner: this.id,
        places,
        onEvent: (event) => this.#heard(event),
        ...(this.#auth && { auth: this.#auth.context }),
        ...(channel.isOpen && { onRequest: judgedQuestions(judging) }),
      }),
    )
    this.#servers = new ThreadServers({
      manager: this.#manager,
      environments: host.environments,
      source: host.capabilities(),
      configuration,
      places,
      roots: this.#roots,
      only: options.only,
      warm: options.warm ?? true,
      compatibility: options.compatibility ?? false,
      threadCwd: host.cwd,
      permissions: options.permissions,
      onEvent: (event) => this.#tell(event),
    })
    this.#approvals = new CallApprovals({
      ...judging,
      channel,
      options,
      multiEnvironment: this.#multiEnvironment,
      durable: approvalsOf(host.approvals, options.principal),
      live: (key, signal) => this.#live(key, signal),
      warn: (key, error) => this.#warn(key, error),
    })
    this.#audit = new CallAudit(this.id, host.audit, options.principal)
    this.#hooks = new CallHooks(
      {
        threadId: this.id,
        functions: options.hooks ?? [],
        onReport: options.onHook,
        local: host.environments.get(LOCAL_ENVIRONMENT)?.environment,
        env: host.env,
        cwd: host.cwd,
        multiEnvironment: this.#multiEnvironment,
        callTool: (call, callOptions) => this.#callDirectly(call, callOptions, 'hook'),
        cwdOf: (id) =>
          this.#servers.places.find((place, index) => (id === undefined ? index === 0 : place.id === id))?.cwd,
      },
      configuration.loaded.hooks,
    )
    this.#files = new CallFiles({
      auth: this.#auth,
      baseUrl: host.firstParty.runtime.places.baseUrl,
      environments: host.environments,
      trusted: options.fileParameters ?? [],
    })
    this.#analytics = callAnalyticsOf(host, options, { id: this.id, auth: this.#auth })
    this.#step = stepHostOf(options, {
      threadId: this.id,
      analytics: this.#analytics,
      files: this.#files,
      audit: this.#audit,
      hooks: this.#hooks,
      approvals: this.#approvals,
      multiEnvironment: this.#multiEnvironment,
      prefixedNames: configuration.prefixedNames,
      launchers: host.launchers,
      ready: (key, signal) => this.#manager.ready(key, signal),
      tell: (event) => this.#tell(event),
    })
    this.#logLevel = new LogLevel(this.#manager, (key, error) => this.#warn(key, error))
    const listings: ListingHost = {
      capture: (captureOptions) => this.#captured(captureOptions),
      ready: async (selector, signal) => this.client(selector, { ...(signal && { signal }) }),
    }
    const request: Requester = (...made) => this.#request(...made)
    this.resources = resourcesOf(listings, request)
    this.prompts = promptsOf(listings, request)
  }

  /**
   * Starts the thread-wide servers, and keeps what has to be kept of a thread that could be started.
   *
   * @throws UnknownServerError | RequiredServersFailedError | ReeveError
   */
  async start(signal?: AbortSignal): Promise<void> {
    await this.#servers.start(signal)
    if (this.#options.enforceRequired !== false) await this.#manager.validateRequired(signal)
    this.#keep(this.#servers.places)
  }

  /** Takes over a configuration that was loaded again. Its feature is the one that the thread was started with. */
  configure(configuration: ThreadConfiguration): void {
    if (this.#closed !== undefined) return
    this.#hooks.configure(configuration.loaded.hooks)
    const multiEnvironment = this.#multiEnvironment
    const discovery = { ...configuration.discovery, executorConfig: multiEnvironment }
    this.#servers.configure({ ...configuration, multiEnvironment, discovery })
  }

  async step({ turn: facts, approvals, ...options }: StepOptions = {}): Promise<Step> {
    const turn = facts === undefined ? undefined : turnOf(this.id, facts)
    const captured = await this.#captured(options)
    const mine = captured.filter(({ key }) => this.#servers.authorityOf(key).kind !== 'none')
    const selected = this.#servers.places.map(({ id }) => id)
    const authorityOf = (key: ServerKey) => this.#servers.authorityOf(key)
    const approved = stepApprovals(this.#options, approvals)
    const issue: StepMoment['issue'] = (server) => this.#issue(server, approved, turn)
    return takeStep(mine, { selected, authorityOf, issue, turn }, this.#step)
  }

  callTool(call: Parameters<Thread['callTool']>[0], options: CallOptions = {}): Promise<JsonObject> {
    return this.#callDirectly(call, options, 'asked')
  }

  /** @param approval `hook`: what a hook calls needs none (reference: authority, 7.7) */
  async #callDirectly(
    call: Parameters<Thread['callTool']>[0],
    options: CallOptions,
    approval: 'asked' | 'hook',
  ): Promise<JsonObject> {
    this.#refuseWhenClosed()
    const key = await this.#servers.locate(call, options.signal)
    const { tool } = call
    const config = this.registration(key)?.config
    if (config === undefined) throw new UnknownServerError(key)
    const catalogRevision = this.#manager.catalogRevision(key)
    const issued = this.#issue({ key, config, catalogRevision }, stepApprovals(this.#options))
    const authority = issued && callAuthority(issued, this.#approvals.modeOf({ key, config }, tool, issued))
    return this.#audit.tool({ key, config, tool, authority, arguments: call.arguments }, (record) =>
      this.#call({ key, config }, authority, call, { options, record, approval }),
    )
  }

  async #call(
    { key, config }: Pick<CapturedServer, 'key' | 'config'>,
    authority: CallAuthority | undefined,
    call: Parameters<Thread['callTool']>[0],
    { options, record, approval }: DirectCall,
  ): Promise<JsonObject> {
    const { tool } = call
    const payload = payloadOf(`${key.name}/${tool}`, call.arguments, call._meta, { threadId: this.id })
    if (!isToolEnabled(config, tool)) throw new ToolDisabledError(key, tool)
    if (!config.enabled) throw new ServerDisabledError(key)
    if (authority === undefined) throw new NoPermissionProfileError(key, config.environmentId)
    const offered = await this.#manager.captureOne(key, options.signal)
    // Another configuration, under another authority, while the server came up.
    if (!isDeepStrictEqual(offered.config, config)) throw new StaleCatalogError(key, tool)
    const server = await this.#approvals.bound(offered, tool, authority, options.signal)
    const prepared = server.tools.some(({ name }) => name === tool) ? server.prepareCall(tool) : undefined
    const definition = prepared?.binding.definition ?? { name: tool }
    // What requirements want to be asked about is asked about whoever calls it.
    const isFree = approval === 'hook' && !asksEachTime(managedRule(config, tool))
    if (isFree) record?.decided('run', 'hook')
    const toApprove = { tool, definition, authority, payload, record, permission: undefined }
    const remember = isFree ? undefined : await this.#approvals.approve(server, toApprove, options)
    const { params, ...rest } = { ...withProgress(options), origin: new IssuedCall(authority, options.origin) }
    const sent = { ...payload, ...(params && { params }) }
    const { launchers } = this.#host
    const files = this.#files.of({ server, tool, definition, authority, arguments: payload.arguments }, options)
    const prepare = inLease(sent, {
      authority,
      remember,
      files,
      config: server.config,
      launchers,
      signal: options.signal,
    })
    record?.sending()
    if (prepared !== undefined) return prepared.run(sent, { ...rest, ...(prepare && { prepare }) })
    // A name that the server never listed: it may know it all the same (reference: tool-calls, 10).
    const client = await this.#manager.ready(key, options.signal)
    const { params: more, ...told } = (await prepare?.(client)) ?? sent
    return client.request(
      'tools/call',
      { ...more, name: tool, ...told },
      { timeoutMs: server.config.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT, ...rest },
    )
  }

  async approvalOf(
    call: Parameters<Thread['approvalOf']>[0],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<ApprovalTarget> {
    this.#refuseWhenClosed()
    const key = await this.#servers.locate(call, signal)
    return approvalTarget(await this.#live(key, signal), call.tool)
  }

  async complete(
    selector: ServerSelector & { readonly params: JsonObject },
    options: CallOptions = {},
  ): Promise<JsonObject> {
    const method = 'completion/complete'
    const params = callersParams(selector.params)
    return this.#request(selector, { kind: 'completion', method, name: method, params }, options)
  }

  async #request(...[selector, { kind, method, name, params }, options]: Parameters<Requester>): Promise<JsonObject> {
    this.#refuseWhenClosed()
    const key = await this.#servers.locate(selector, options.signal)
    const config = this.registration(key)?.config
    if (config === undefined) throw new UnknownServerError(key)
    const catalogRevision = this.#manager.catalogRevision(key)
    const issued = this.#issue({ key, config, catalogRevision }, stepApprovals(this.#options))
    const authority = issued && callAuthority(issued, 'approve')
    const { _meta, ...rest } = params
    const toRecord = { operation: kind, key, config, tool: name, authority, arguments: rest }
    return this.#audit.tool(toRecord, async (record) => {
      const client = await this.#manager.ready(key, options.signal)
      record?.decided('run', 'mode')
      record?.sending()
      return client.request(method, params, { timeoutMs: OPERATION_TIMEOUT, ...options })
    })
  }

  async client(
    selector: ServerSelector,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<{ key: ServerKey; client: ReadyClient }> {
    this.#refuseWhenClosed()
    const key = await this.#servers.locate(selector, options.signal)
    return { key, client: await this.#manager.ready(key, options.signal) }
  }

  async setLogLevel(level: string): Promise<void> {
    this.#refuseWhenClosed()
    await this.#logLevel.set(level)
  }

  async rootsChanged(): Promise<void> {
    this.#refuseWhenClosed()
    const servers = await this.#manager.capture({ wait: 'none' })
    await Promise.all(
      servers.map(async ({ key, client }) => {
        try {
          await client?.notify('notifications/roots/list_changed')
        } catch (error) {
          this.#warn(key, error)
        }
      }),
    )
  }

  get environments(): readonly SelectedEnvironment[] {
    return this.#servers.places
  }

  async select(environments: readonly SelectedEnvironment[]): Promise<void> {
    this.#refuseWhenClosed()
    const places = placesOf(this.#host, environments, undefined)
    this.#keep(places)
    this.#servers.select(places)
  }

  /** For the runtime: how a server is registered. */
  registration(key: ServerKey): EffectiveServer | undefined {
    return this.#servers.servers.find((server) => sameKey(server.key, key))
  }

  servers(): readonly ServerStatus[] {
    return this.#servers.statuses()
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #shutDown(): Promise<void> {
    this.#channel.close()
    this.#servers.close()
    try {
      await this.#manager.close()
    } finally {
      await this.#analytics.close()
      this.#auth?.context.close()
      this.#host.onClosed(this.id)
    }
  }

  async #live(key: ServerKey, signal: AbortSignal | undefined): Promise<CapturedServer> {
    await this.#manager.ready(key, signal)
    return this.#manager.captureOne(key, signal)
  }

  async #captured(options: Omit<StepOptions, 'turn'>) {
    this.#refuseWhenClosed()
    const { wait = 'grace', signal } = options
    this.#servers.begin()
    if (wait !== 'none') {
      const graceMs = this.#options.graceMs ?? DEFAULT_GRACE
      await this.#servers.looked({ graceMs, all: wait === 'all' || graceMs === 0, ...(signal && { signal }) })
    }
    return this.#manager.capture(options)
  }

  /** What the calls of a server are issued with now. */
  #issue(
    server: Parameters<typeof issuedAuthority>[0],
    approvals: StepApprovals,
    turn?: Turn,
  ): IssuedAuthority | undefined {
    return issuedAuthority(server, this.#servers.authorityOf(server.key), {
      threadId: this.id,
      turn,
      approvals,
      places: this.#servers.places,
      threadCwd: this.#host.cwd,
    })
  }

  #keep(places: readonly SelectedPlace[]): void {
    if (this.#isKept) this.#host.memory.put(this.id, { environments: places, capabilityRoots: this.#roots })
  }

  #heard(heard: ConnectionEvent): void {
    const event =
      heard.type === 'notification' ? { ...heard, notification: causeOf(heard.notification).message } : heard
    if (event.type === 'status' && event.status === 'ready') void this.#logLevel.cameUp(event.key)
    this.#options.onEvent?.(event)
  }

  #warn(key: ServerKey, error: unknown): void {
    const code = error instanceof ReeveError ? error.code : 'internal'
    this.#tell({ type: 'warning', key, code, message: error instanceof Error ? error.message : String(error) })
  }

  /** A listener that throws is told so where nothing of ours is in the middle of something. */
  #tell(event: ThreadEvent): void {
    try {
      this.#options.onEvent?.(event)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }

  #refuseWhenClosed(): void {
    if (this.#closed !== undefined) throw new ClosedError('the thread')
  }
}
