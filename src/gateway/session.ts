import { setImmediate } from 'node:timers/promises'
import type { ClientProfile, FromServer } from '../connections/index.js'
import { ClosedError, ReeveError, RpcError } from '../errors.js'
import { serverKey } from '../identity/index.js'
import { type Era, type InboundRequest, type JsonObject, Peer, RPC, type Transport } from '../protocol/index.js'
import type { Thread, ThreadEvent } from '../threads/index.js'
import { errorIn } from './bridge/index.js'
import { isModern, negotiate, type Revision } from './eras.js'
import { type FrontOptions, introduce, openLegacyRelay } from './front.js'
import type { ModernLimits } from './modern/limits.js'
import type { ModernThread } from './modern/modern-thread.js'
import { requireEnvelope } from './modern/request.js'
import { ModernService } from './modern/service.js'
import { Moment } from './moment.js'
import { Announcements } from './relay/announcements.js'
import { callOptions } from './relay/call-options.js'
import { askClient } from './relay/client-requests.js'
import { toRpcError } from './relay/errors.js'
import { type Introduction, profileOf, wholeProfileOf } from './relay/handshake.js'
import { isObject, requiredText } from './relay/params.js'
import type { Relay } from './relay/relay.js'
import { serverEra } from './relay/server-era.js'

export interface GatewaySessionOptions extends FrontOptions {
  /** What is held for a client of the modern era. */
  readonly modernLimits?: Partial<ModernLimits>
}

type State =
  | { readonly kind: 'new' }
  /** `serving` resolves when requests can be answered. */
  | { readonly kind: 'starting'; readonly relay: Promise<Relay>; readonly serving: Promise<Served> }
  | ({ readonly kind: 'serving' } & Served)
  | { readonly kind: 'closed' }

/** Who speaks over a connection that only one client has. */
const OWNER = 'owner'

/** A client that has introduced itself, and was told what is here. */
interface Served {
  readonly relay: Relay
  readonly client: JsonObject
  readonly revision: Revision
  readonly introduction: Introduction
}

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
  #modern: ModernService | undefined
  /** The newest of those that serve a modern client. */
  #modernThread: ModernThread | undefined
  #state: State = { kind: 'new' }

  constructor(transport: Transport, options: GatewaySessionOptions) {
    this.#options = options
    this.#transport = transport
    this.closed = this.#ended.come
    this.#peer = new Peer(transport, {
      onRequest: (method, params, request) => this.#answer(method, params ?? {}, request),
      onNotification: (method, params) => this.#notified(method, params),
      onClose: ({ error }) => this.#end(error),
      onWarning: options.onWarning,
    })
    this.#announcements = new Announcements(this.#peer, this.#warn)
  }

  start(): Promise<void> {
    return this.#peer.start()
  }

  /** What the client said about itself, once it did; a modern one says it with every request. */
  get client(): { readonly info: JsonObject; readonly revision: string } | undefined {
    if (this.#state.kind === 'serving') return { info: this.#state.client, revision: this.#state.revision }
    return this.#modernThread?.client
  }

  get thread(): Thread | undefined {
    return this.#state.kind === 'serving' ? this.#state.relay.thread : this.#modernThread?.thread
  }

  /** Ends the session; resolves when its thread is gone. */
  async close(): Promise<void> {
    await this.#modern?.close()
    await this.#peer.close()
    await this.closed
  }

  async #answer(method: string, params: JsonObject, request: InboundRequest): Promise<JsonObject> {
    if (this.#state.kind === 'new' && isModern({ method, params })) return this.#answerModern(method, params, request)
    try {
      return await this.#route(method, params, request)
    } catch (error) {
      if (!(error instanceof ReeveError)) this.#warn(error)
      throw errorIn('legacy', this.#eraBehind(error), method, toRpcError(error))
    }
  }

  async #route(method: string, params: JsonObject, request: InboundRequest): Promise<JsonObject> {
    if (method === 'ping') return {}
    if (method === 'initialize') return this.#initialize(params)
    const relay = await this.#servingRelay()
    // A client that asks is ready, whether it said so or forgot to.
    this.#begin(relay)
    return relay.answer(method, params, callOptions(this.#peer, params, request, this.#warn))
  }

  #eraBehind(error: unknown): Era | undefined {
    const key = error instanceof RpcError ? error.key : undefined
    return key && this.thread && serverEra(this.thread, serverKey(key.name, key.environment))
  }

  /** Every request by itself, until the client opens a session with `initialize` after all. */
  #answerModern(method: string, params: JsonObject, { id, signal }: InboundRequest): Promise<JsonObject> {
    const envelope = requireEnvelope({ params })
    this.#modern ??= new ModernService({
      ...this.#options,
      isOneClient: true,
      onThread: (thread) => this.#opened(thread),
    })
    return this.#modern.answer({
      id,
      method,
      params,
      envelope,
      principal: this.#options.principal ?? OWNER,
      signal,
      notify: (notification, sent) => void this.#peer.notify(notification, sent, { relatedTo: id }).catch(this.#warn),
    })
  }

  #opened(thread: ModernThread): void {
    this.#modernThread = thread
    void thread.closed.then(() => {
      if (this.#modernThread === thread) this.#modernThread = undefined
    })
  }

  /** Scripts send everything at once: what comes while the servers start waits until `initialize` was answered. */
  async #servingRelay(): Promise<Relay> {
    if (this.#state.kind === 'serving') return this.#state.relay
    if (this.#state.kind !== 'starting') throw new RpcError(RPC.invalidRequest, 'Invalid Request: initialize first')
    const { relay } = await this.#state.serving
    await setImmediate()
    return relay
  }

  async #initialize(params: JsonObject): Promise<JsonObject> {
    if (this.#state.kind !== 'new') throw new RpcError(RPC.invalidRequest, 'Invalid Request: already initialized')
    const revision = negotiate(requiredText(params, 'protocolVersion'))
    void this.#modern?.close().catch(this.#warn)
    const profile = this.#options.transparent === undefined ? profileOf(params) : wholeProfileOf(params)
    const relay = this.#startRelay(profile)
    const serving = this.#serve(relay, profile.clientInfo, revision)
    this.#state = { kind: 'starting', relay, serving }
    const { further, ...introduction } = (await serving).introduction
    return { ...further, protocolVersion: revision, ...introduction }
  }

  async #serve(starting: Promise<Relay>, client: JsonObject, revision: Revision): Promise<Served> {
    try {
      const relay = await starting
      const introduction = await introduce(relay, this.#options)
      if (this.#state.kind !== 'starting') throw new ClosedError('the session')
      const served: Served = { relay, client, revision, introduction }
      this.#state = { kind: 'serving', ...served }
      this.#transport.protocolVersion?.(revision)
      return served
    } catch (error) {
      if (this.#state.kind === 'starting') await this.#startAgain(this.#state.relay)
      throw error
    }
  }

  /** The client may try once more, with a thread of its own. */
  async #startAgain(relay: Promise<Relay>): Promise<void> {
    this.#state = { kind: 'new' }
    const started = await relay.catch(nothing)
    await started?.thread.close()
  }

  #startRelay(profile: ClientProfile): Promise<Relay> {
    return openLegacyRelay(this.#options, profile, {
      onRequest: (request, signal) =>
        askClient(request, signal, {
          peer: this.#peer,
          capabilities: profile.capabilities,
          ready: this.#ready.come,
          onProgress: this.#reportProgress,
        }),
      onEvent: (event) => this.#onEvent(event),
    })
  }

  #notified(method: string, params: JsonObject | undefined): void {
    if (method === 'notifications/initialized') this.#servingRelay().then((relay) => this.#begin(relay), nothing)
    else if (method === 'notifications/roots/list_changed') this.thread?.rootsChanged().catch(this.#warn)
    else if (this.#state.kind === 'serving') this.#state.relay.notified(method, params)
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
      await this.#modern?.close()
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

function nothing(): undefined {
  return undefined
}
