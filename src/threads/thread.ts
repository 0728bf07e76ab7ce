import { randomUUID } from 'node:crypto'
import type { EffectiveServer } from '../catalog/index.js'
import {
  type CapturedServer,
  type ConnectionEvent,
  ConnectionManager,
  type ReadyClient,
  type ServerStatus,
} from '../connections/index.js'
import type { CapabilityRoot } from '../environments/index.js'
import { ClosedError } from '../errors.js'
import { type ServerKey, sameKey } from '../identity/index.js'
import { checkPolicy } from '../permissions/index.js'
import type { JsonObject } from '../protocol/index.js'
import { approvalTarget } from './approval.js'
import { threadAppsOf } from './apps/of-thread.js'
import type { ThreadApps } from './apps/thread-apps.js'
import type { CallAnalytics } from './call-analytics.js'
import { type IssuedAuthority, issuedAuthority, type StepApprovals, stepApprovals } from './call-authority.js'
import type { CallHooks } from './call-hooks.js'
import { callPartsOf } from './call-parts.js'
import type { ThreadConfiguration } from './composition.js'
import { DirectCalls } from './direct-calls.js'
import { HostChannel, threadElicitations } from './host-channel.js'
import { LogLevel } from './log-level.js'
import { callersParams } from './meta.js'
import { promptsOf, type Requester, resourcesOf } from './operations.js'
import { type OwningAuth, owningAuthOf } from './owning-auth.js'
import { holdClocks, threadPauses } from './pauses.js'
import { judgedQuestions, type QuestionsHost } from './questions.js'
import { reviewSettings } from './review-events.js'
import { tellRootsChanged } from './roots-changed.js'
import { checkRoots, type SelectedPlace } from './selection.js'
import type { ListingHost } from './server-pages.js'
import { type StepHost, type StepMoment, takeStep } from './step.js'
import {
  callAnalyticsOf,
  callHooksOf,
  managerOptionsOf,
  placesOf,
  stepHostOf,
  type ThreadHost,
  type ThreadOrigin,
  threadServersOf,
} from './thread-host.js'
import { ThreadListener } from './thread-listener.js'
import type { ThreadServers } from './thread-servers.js'
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
  ThreadOptions,
  ThreadPauses,
} from './types.js'

/** Milliseconds that a step waits for environments which failed before. */
const DEFAULT_GRACE = 1_000

/** One conversation's view of the servers: its own connections, names, and answers to what servers ask. */
export class RuntimeThread implements Thread {
  readonly id: string
  readonly pauses: ThreadPauses
  readonly elicitations: ThreadElicitations
  readonly resources: Resources
  readonly prompts: Prompts
  readonly apps: ThreadApps
  readonly #channel: HostChannel
  readonly #host: ThreadHost
  readonly #options: ThreadOptions
  readonly #multiEnvironment: boolean
  readonly #roots: readonly CapabilityRoot[]
  readonly #manager: ConnectionManager
  readonly #servers: ThreadServers
  readonly #step: StepHost
  readonly #hooks: CallHooks
  readonly #analytics: CallAnalytics
  readonly #logLevel: LogLevel
  readonly #listener: ThreadListener
  readonly #direct: DirectCalls
  /** For whatever works with the first-party backend in this thread's name. */
  readonly #auth: OwningAuth | undefined
  readonly #isKept: boolean
  #closed: Promise<void> | undefined

  /** @throws SelectionError */
  constructor(host: ThreadHost, configuration: ThreadConfiguration, options: ThreadOptions, origin: ThreadOrigin = {}) {
    checkPolicy(options.approvalPolicy, 'approvalPolicy')
    const { record } = origin
    this.id = origin.id ?? randomUUID()
    this.#host = host
    this.#options = options
    this.#listener = new ThreadListener(options)
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
      policy: () => this.#servers.policyFor(options.approvalPolicy ?? null),
      review: reviewSettings(options, (event) => this.#listener.tell(event)),
      hold: () => holdClocks(this.#manager.clocks),
      options,
    }
    this.#channel = channel
    // Before the connections: a catalog without apps comes before an attempt to reach them.
    this.apps = threadAppsOf(host, options, configuration, {
      threadId: this.id,
      auth: this.#auth,
      manager: () => this.#manager,
      onAccount: () => this.#closed ?? this.#servers.accountChanged(),
    })
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
        slotOf: (server) => this.apps.slotOf(server),
        ...(this.#auth && { auth: this.#auth.context }),
        ...(channel.isOpen && { onRequest: judgedQuestions(judging) }),
      }),
    )
    this.#servers = threadServersOf(host, options, {
      manager: this.#manager,
      configuration,
      places,
      roots: this.#roots,
      apps: () => this.apps.hosted,
      onEvent: (event) => this.#listener.tell(event),
    })
    this.#hooks = callHooksOf(host, options, configuration, {
      threadId: this.id,
      multiEnvironment: this.#multiEnvironment,
      callTool: (call, callOptions) => this.#direct.tool(call, callOptions, 'hook'),
      places: () => this.#servers.places,
    })
    this.#analytics = callAnalyticsOf(host, options, { id: this.id, auth: this.#auth })
    const calls = callPartsOf(host, options, {
      judging,
      channel,
      auth: this.#auth,
      apps: this.apps,
      multiEnvironment: this.#multiEnvironment,
      live: (key, signal) => this.#live(key, signal),
      warn: (key, error) => this.#listener.warn(key, error),
    })
    this.#step = stepHostOf(options, {
      ...calls,
      hooks: this.#hooks,
      analytics: this.#analytics,
      multiEnvironment: this.#multiEnvironment,
      prefixedNames: configuration.prefixedNames,
      ready: (key, signal) => this.#manager.ready(key, signal),
      tell: (event) => this.#listener.tell(event),
    })
    this.#direct = new DirectCalls({
      ...calls,
      hooks: this.#hooks,
      manager: this.#manager,
      locate: (selector, signal) => this.#locate(selector, signal),
      configOf: (key) => this.registration(key)?.config,
      issue: (server) => this.#issue(server, stepApprovals(options)),
    })
    this.#logLevel = new LogLevel(this.#manager, (key, error) => this.#listener.warn(key, error))
    const listings: ListingHost = {
      capture: (captureOptions) => this.#captured(captureOptions),
      ready: async (selector, signal) => this.client(selector, { ...(signal && { signal }) }),
    }
    const request: Requester = (...made) => this.#direct.request(...made)
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
    this.apps.configure(configuration.apps)
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
    return this.#direct.tool(call, options, 'asked')
  }

  async approvalOf(
    call: Parameters<Thread['approvalOf']>[0],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<ApprovalTarget> {
    const key = await this.#locate(call, signal)
    return approvalTarget(await this.#live(key, signal), call.tool)
  }

  async complete(
    selector: ServerSelector & { readonly params: JsonObject },
    options: CallOptions = {},
  ): Promise<JsonObject> {
    const method = 'completion/complete'
    const params = callersParams(selector.params)
    return this.#direct.request(selector, { kind: 'completion', method, name: method, params }, options)
  }

  async client(
    selector: ServerSelector,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<{ key: ServerKey; client: ReadyClient }> {
    const key = await this.#locate(selector, options.signal)
    return { key, client: await this.#manager.ready(key, options.signal) }
  }

  async setLogLevel(level: string): Promise<void> {
    this.#refuseWhenClosed()
    await this.#logLevel.set(level)
  }

  async rootsChanged(): Promise<void> {
    this.#refuseWhenClosed()
    await tellRootsChanged(this.#manager, this.#listener)
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
    this.apps.close()
    this.#servers.close()
    try {
      await this.#manager.close()
    } finally {
      await this.#analytics.close()
      this.#auth?.context.close()
      this.#host.onClosed(this.id)
    }
  }

  async #locate(selector: ServerSelector, signal: AbortSignal | undefined): Promise<ServerKey> {
    this.#refuseWhenClosed()
    return this.#servers.locate(selector, signal)
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
    return this.#manager.capture({ ...options, unawaited: this.apps.unawaited })
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
      approvals: { ...approvals, policy: this.#servers.policyFor(approvals.policy) },
      places: this.#servers.places,
      threadCwd: this.#host.cwd,
    })
  }

  #keep(places: readonly SelectedPlace[]): void {
    if (this.#isKept) this.#host.memory.put(this.id, { environments: places, capabilityRoots: this.#roots })
  }

  #heard(event: ConnectionEvent): void {
    this.apps.heard(event)
    if (event.type === 'status' && event.status === 'ready') void this.#logLevel.cameUp(event.key)
    this.#listener.relay(event)
  }

  #refuseWhenClosed(): void {
    if (this.#closed !== undefined) throw new ClosedError('the thread')
  }
}
