import { randomUUID } from 'node:crypto'
import type { EffectiveServer } from '../catalog/index.js'
import {
  type ClientProfile,
  type ConnectionEvent,
  ConnectionManager,
  type ConnectionPool,
  DEFAULT_TOOL_TIMEOUT,
  type HostVariables,
  isToolEnabled,
  type ReadyClient,
  type ServerStatus,
} from '../connections/index.js'
import { ClosedError, ReeveError, ToolDisabledError, UnsupportedError } from '../errors.js'
import { codexNaming, readableNaming, type ServerKey, sameKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import { approve } from './approval.js'
import { LeftOut } from './functions/left-out.js'
import { hasCapability, type ListingHost } from './listing.js'
import { type ClientOf, OPERATION_TIMEOUT, promptsOf, resourcesOf } from './operations.js'
import { type Addressable, selectServer } from './select.js'
import { payloadOf, type StepHost, takeStep } from './step.js'
import type {
  CallOptions,
  Prompts,
  Resources,
  SelectedEnvironment,
  ServerSelector,
  Step,
  Thread,
  ThreadOptions,
} from './types.js'

/** What the runtime lends to a thread. */
export interface ThreadHost {
  readonly pool: ConnectionPool
  readonly env: HostVariables
  readonly clientInfo: JsonObject
  /** Working directory where the options name none. */
  readonly cwd: string
  readonly multiEnvironment: boolean
  onClosed(thread: RuntimeThread): void
}

/** One conversation's view of the servers: its own connections, names, and answers to what servers ask. */
export class RuntimeThread implements Thread {
  readonly id = randomUUID()
  readonly resources: Resources
  readonly prompts: Prompts
  readonly #manager: ConnectionManager
  readonly #host: ThreadHost
  readonly #options: ThreadOptions
  readonly #step: StepHost
  #servers: readonly EffectiveServer[] = []
  #logLevel: string | undefined
  #closed: Promise<void> | undefined

  constructor(host: ThreadHost, options: ThreadOptions) {
    this.#host = host
    this.#options = options
    this.#step = {
      threadId: this.id,
      naming: options.naming === 'readable' ? readableNaming : codexNaming({ multiEnvironment: host.multiEnvironment }),
      multiEnvironment: host.multiEnvironment,
      appTools: options.appTools ?? false,
      onApproval: options.onApproval,
      functions: {
        multiEnvironment: host.multiEnvironment,
        soleOwners: options.soleOwners ?? false,
        ready: (key, signal) => this.#manager.ready(key, signal),
        leftOut: new LeftOut((event) => options.onEvent?.(event)),
      },
    }
    this.#manager = new ConnectionManager({
      pool: host.pool,
      owner: this.id,
      profile: profileOf(host, options),
      env: host.env,
      fallbackCwd: options.environments?.find(({ id }) => id === 'local')?.cwd ?? host.cwd,
      onEvent: (event) => this.#heard(event),
      ...(options.sharing === 'shared' && {
        sharing: { owner: sharedOwner(options.principal), clientInfo: host.clientInfo },
      }),
      ...(options.graceMs !== undefined && { graceMs: options.graceMs }),
      ...(options.onRequest && { onRequest: options.onRequest }),
    })
    const listings: ListingHost = { manager: this.#manager, select: (selector) => this.#select(selector) }
    const client: ClientOf = (selector, callOptions) => this.client(selector, callOptions)
    this.resources = resourcesOf(listings, client)
    this.prompts = promptsOf(listings, client)
  }

  /** Publishes the servers, as far as this thread is meant for them; again after every change of configuration. */
  publish(servers: readonly EffectiveServer[]): void {
    const { only } = this.#options
    const wanted = only?.map((selector) => selectServer(servers.map(addressable), selector))
    this.#servers =
      wanted === undefined ? servers : servers.filter(({ key }) => wanted.some((other) => sameKey(key, other)))
    this.#manager.replace(this.#servers)
  }

  /** @throws RequiredServersFailedError */
  validateRequired(signal?: AbortSignal): Promise<void> {
    return this.#manager.validateRequired(signal)
  }

  async step(options: Parameters<Thread['step']>[0] = {}): Promise<Step> {
    this.#refuseWhenClosed()
    const servers = await this.#manager.capture(options)
    return takeStep(
      servers,
      this.environments.map(({ id }) => id),
      this.#step,
    )
  }

  async callTool(call: Parameters<Thread['callTool']>[0], options: CallOptions = {}): Promise<JsonObject> {
    const key = this.#select(call)
    const { tool } = call
    const payload = payloadOf(`${key.name}/${tool}`, call.arguments, call._meta, this.id)
    const config = this.#servers.find((server) => sameKey(server.key, key))?.config
    if (config !== undefined && !isToolEnabled(config, tool)) throw new ToolDisabledError(key, tool)
    const server = await this.#manager.captureOne(key, options.signal)
    const prepared = server.tools.some(({ name }) => name === tool) ? server.prepareCall(tool) : undefined
    const definition = prepared?.binding.definition ?? { name: tool }
    await approve(
      server.config,
      { key, tool, definition, arguments: call.arguments },
      this.#options.onApproval,
      options.signal,
    )
    const { params, ...rest } = options
    if (prepared !== undefined) return prepared.run({ ...payload, ...(params && { params }) }, rest)
    // A name that the server never listed: it may know it all the same (reference: tool-calls, 10).
    const client = await this.#manager.ready(key, options.signal)
    return client.request(
      'tools/call',
      { ...params, name: tool, ...payload },
      { timeoutMs: server.config.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT, ...options },
    )
  }

  async complete(
    selector: ServerSelector & { readonly params: JsonObject },
    options: CallOptions = {},
  ): Promise<JsonObject> {
    const { client } = await this.client(selector, options)
    return client.request('completion/complete', selector.params, { timeoutMs: OPERATION_TIMEOUT, ...options })
  }

  async client(
    selector: ServerSelector,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<{ key: ServerKey; client: ReadyClient }> {
    const key = this.#select(selector)
    return { key, client: await this.#manager.ready(key, options.signal) }
  }

  async setLogLevel(level: string): Promise<void> {
    this.#refuseWhenClosed()
    this.#logLevel = level
    const servers = await this.#manager.capture({ wait: 'none' })
    await Promise.all(servers.map(({ key, client }) => client && this.#applyLogLevel(key, client)))
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
    return this.#options.environments ?? [{ id: 'local', cwd: this.#host.cwd }]
  }

  async select(): Promise<void> {
    throw new UnsupportedError('selecting environments anew')
  }

  servers(): readonly ServerStatus[] {
    return this.#manager.statuses()
  }

  close(): Promise<void> {
    this.#closed ??= this.#manager.close().finally(() => this.#host.onClosed(this))
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #select(selector: ServerSelector): ServerKey {
    this.#refuseWhenClosed()
    return selectServer(this.#servers.map(addressable), selector)
  }

  #heard(event: ConnectionEvent): void {
    if (event.type === 'status' && event.status === 'ready' && this.#logLevel !== undefined) {
      void this.#applyLogLevelTo(event.key)
    }
    this.#options.onEvent?.(event)
  }

  async #applyLogLevelTo(key: ServerKey): Promise<void> {
    try {
      await this.#applyLogLevel(key, await this.#manager.ready(key))
    } catch (error) {
      this.#warn(key, error)
    }
  }

  async #applyLogLevel(key: ServerKey, client: ReadyClient): Promise<void> {
    if (this.#logLevel === undefined || !hasCapability(client, 'logging')) return
    try {
      await client.request('logging/setLevel', { level: this.#logLevel }, { timeoutMs: OPERATION_TIMEOUT })
    } catch (error) {
      this.#warn(key, error)
    }
  }

  #warn(key: ServerKey, error: unknown): void {
    const code = error instanceof ReeveError ? error.code : 'internal'
    this.#options.onEvent?.({
      type: 'warning',
      key,
      code,
      message: error instanceof Error ? error.message : String(error),
    })
  }

  #refuseWhenClosed(): void {
    if (this.#closed !== undefined) throw new ClosedError('the thread')
  }
}

function addressable({ key, config }: EffectiveServer): Addressable {
  return { key, runsIn: config.environmentId }
}

/** Whoever runs this process. */
const LOCAL_USER = 'owner'

/** No thread has such an id. */
function sharedOwner(principal = LOCAL_USER): string {
  return JSON.stringify({ principal })
}

function profileOf(host: ThreadHost, options: ThreadOptions): ClientProfile {
  return {
    clientInfo: options.client?.clientInfo ?? host.clientInfo,
    capabilities: options.client?.capabilities ?? {},
  }
}
