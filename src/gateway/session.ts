import { setImmediate } from 'node:timers/promises'
import type { FromServer } from '../connections/index.js'
import { ClosedError, ReeveError, RpcError } from '../errors.js'
import { type InboundRequest, type JsonObject, Peer, RPC, type Transport } from '../protocol/index.js'
import type { Thread, ThreadEvent } from '../threads/index.js'
import { eraOf, negotiate, type Revision, refuseDiscovery } from './eras.js'
import { Announcements } from './relay/announcements.js'
import { askClient } from './relay/client-requests.js'
import { toRpcError } from './relay/errors.js'
import { capabilitiesOf, instructionsOf, profileOf, showsApps } from './relay/handshake.js'
import { isObject, requiredText } from './relay/params.js'
import { Relay } from './relay/relay.js'
import type { ThreadStarter } from './thread-starter.js'

export interface GatewaySessionOptions {
  readonly startThread: ThreadStarter
  /** Of Reeve, for `serverInfo`. */
  readonly version: string
  /** Milliseconds that `initialize` waits for servers, whose instructions it carries. Default 1500. */
  readonly settleMs?: number
  /** Faults of clients and transports. What happens to servers is told by the events of the thread that is started. */
  readonly onWarning: (warning: Error) => void
}

type State =
  | { readonly kind: 'new' }
  /** `serving` resolves when requests can be answered. */
  | { readonly kind: 'starting'; readonly relay: Promise<Relay>; readonly serving: Promise<Relay> }
  | { readonly kind: 'serving'; readonly relay: Relay; readonly client: JsonObject; readonly revision: Revision }
  | { readonly kind: 'closed' }

/** One downstream client and the thread that serves it, from `initialize` to the end of its transport. */
export class GatewaySession {
  /** Resolves when the transport has ended and the thread is gone. Never rejects. */
  readonly closed: Promise<void>
  readonly openedAt = Date.now()
  readonly #options: GatewaySessionOptions
  readonly #transport: Transport
  readonly #peer: Peer
  readonly #announcements: Announcements
  readonly #ready = new Moment()
  readonly #ended = new Moment()
  #state: State = { kind: 'new' }

  constructor(transport: Transport, options: GatewaySessionOptions) {
    this.#options = options
    this.#transport = transport
    this.closed = this.#ended.come
    this.#peer = new Peer(transport, {
      onRequest: (method, params, request) => this.#answer(method, params ?? {}, request),
      onNotification: (method) => this.#notified(method),
      onClose: ({ error }) => this.#end(error),
      onWarning: options.onWarning,
    })
    this.#announcements = new Announcements(this.#peer, this.#warn)
  }

  start(): Promise<void> {
    return this.#peer.start()
  }

  /** What the client said about itself, once it did. */
  get client(): { readonly info: JsonObject; readonly revision: Revision } | undefined {
    return this.#state.kind === 'serving' ? { info: this.#state.client, revision: this.#state.revision } : undefined
  }

  get thread(): Thread | undefined {
    return this.#state.kind === 'serving' ? this.#state.relay.thread : undefined
  }

  /** Ends the session; resolves when its thread is gone. */
  async close(): Promise<void> {
    await this.#peer.close()
    await this.closed
  }

  async #answer(method: string, params: JsonObject, request: InboundRequest): Promise<JsonObject> {
    try {
      return await this.#route(method, params, request)
    } catch (error) {
      if (!(error instanceof ReeveError)) this.#warn(error)
      throw toRpcError(error)
    }
  }

  async #route(method: string, params: JsonObject, request: InboundRequest): Promise<JsonObject> {
    if (eraOf({ method, params }) === 'discovery') throw discoveryRefused()
    if (method === 'ping') return {}
    if (method === 'initialize') return this.#initialize(params)
    const relay = await this.#servingRelay()
    // A client that asks is ready, whether it said so or forgot to.
    this.#begin(relay)
    return relay.answer(method, params, request)
  }

  /** Scripts send everything at once: what comes while the servers start waits until `initialize` was answered. */
  async #servingRelay(): Promise<Relay> {
    if (this.#state.kind === 'serving') return this.#state.relay
    if (this.#state.kind !== 'starting') throw new RpcError(RPC.invalidRequest, 'Invalid Request: initialize first')
    const relay = await this.#state.serving
    await setImmediate()
    return relay
  }

  async #initialize(params: JsonObject): Promise<JsonObject> {
    if (this.#state.kind !== 'new') throw new RpcError(RPC.invalidRequest, 'Invalid Request: already initialized')
    const revision = negotiate(requiredText(params, 'protocolVersion'))
    const profile = profileOf(params)
    const relay = this.#startRelay(profile)
    const serving = this.#serve(relay, profile.clientInfo, revision)
    this.#state = { kind: 'starting', relay, serving }
    return this.#introduce((await serving).thread, revision)
  }

  async #serve(starting: Promise<Relay>, client: JsonObject, revision: Revision): Promise<Relay> {
    try {
      const relay = await starting
      await this.#settle(relay.thread)
      if (this.#state.kind !== 'starting') throw new ClosedError('the session')
      this.#state = { kind: 'serving', relay, client, revision }
      this.#transport.protocolVersion?.(revision)
      return relay
    } catch (error) {
      if (this.#state.kind === 'starting') this.#state = { kind: 'new' }
      throw error
    }
  }

  #introduce(thread: Thread, revision: Revision): JsonObject {
    const servers = thread.servers()
    const instructions = instructionsOf(servers)
    return {
      protocolVersion: revision,
      capabilities: capabilitiesOf(servers),
      serverInfo: { name: 'reeve', title: 'Reeve', version: this.#options.version },
      ...(instructions !== undefined && { instructions }),
    }
  }

  async #startRelay(profile: ReturnType<typeof profileOf>): Promise<Relay> {
    const thread = await this.#options.startThread({
      client: profile,
      naming: 'readable',
      appTools: showsApps(profile),
      onRequest: (request, signal) =>
        askClient(request, signal, {
          peer: this.#peer,
          capabilities: profile.capabilities,
          ready: this.#ready.come,
          onProgress: this.#reportProgress,
        }),
      onEvent: (event) => this.#onEvent(event),
    })
    return new Relay(thread, this.#peer, this.#warn)
  }

  /** Gives servers a moment to come up. Why one did not is told to the request that needs it, not to the handshake. */
  async #settle(thread: Thread): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const passed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.settleMs ?? 1500)
    })
    const come = thread.step().then(nothing, nothing)
    await Promise.race([come, passed])
    clearTimeout(timer)
  }

  #notified(method: string): void {
    if (method === 'notifications/initialized') this.#servingRelay().then((relay) => this.#begin(relay), nothing)
    if (method === 'notifications/roots/list_changed') this.thread?.rootsChanged().catch(this.#warn)
  }

  #begin(relay: Relay): void {
    this.#announcements.begin(relay)
    this.#ready.arrive()
  }

  #onEvent(event: ThreadEvent): void {
    if (event.type === 'inventory_changed') this.#announcements.listChanged(event.what)
    else if (event.type === 'notification') this.#announcements.notification(event.notification)
  }

  /** Progress of the client on a server's request, under the token that the server gave. */
  readonly #reportProgress = ({ key, params }: FromServer, progress: JsonObject): void => {
    const token = isObject(params?._meta) ? params._meta.progressToken : undefined
    const { thread } = this
    if (thread === undefined || token === undefined) return
    thread
      .client({ server: key.name, environment: key.environment })
      .then(({ client }) => client.notify('notifications/progress', { ...progress, progressToken: token }))
      .catch(this.#warn)
  }

  #end(error: Error | undefined): void {
    if (error !== undefined) this.#warn(error)
    const former = this.#state
    this.#state = { kind: 'closed' }
    this.#announcements.end()
    void this.#closeThread(former).then(() => this.#ended.arrive())
  }

  async #closeThread(former: State): Promise<void> {
    try {
      if (former.kind === 'serving') await former.relay.thread.close()
      // One that fails to start was told to the request that started it.
      if (former.kind === 'starting') await (await former.relay.catch(nothing))?.thread.close()
    } catch (error) {
      this.#warn(error)
    }
  }

  readonly #warn = (warning: unknown): void => {
    this.#options.onWarning(warning instanceof Error ? warning : new Error(String(warning)))
  }
}

function discoveryRefused(): RpcError {
  const { code, message, data } = refuseDiscovery()
  return new RpcError(code, message, data)
}

function nothing(): undefined {
  return undefined
}

/** Something that happens once and is waited for by many. */
class Moment {
  readonly come: Promise<void>
  #arrive: () => void = nothing

  constructor() {
    this.come = new Promise((resolve) => {
      this.#arrive = resolve
    })
  }

  arrive(): void {
    this.#arrive()
  }
}
