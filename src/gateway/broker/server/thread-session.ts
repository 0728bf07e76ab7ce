import type { Socket } from 'node:net'
import type { FromServer } from '../../../connections/index.js'
import { ClosedError, RpcError } from '../../../errors.js'
import { type InboundRequest, type JsonObject, Peer, RPC } from '../../../protocol/index.js'
import type { ApprovalAnswer, ApprovalRequest, Thread, ThreadEvent, ThreadOptions } from '../../../threads/index.js'
import { optionalObject } from '../../relay/params.js'
import { BROKER_LIMITS } from '../wire/limits.js'
import { errorToWire } from '../wire/remote-errors.js'
import { SocketTransport } from '../wire/socket-transport.js'
import {
  APPROVE,
  ASK,
  EVENT,
  fromWire,
  statusToWire,
  toWire,
  type WireEvent,
  type WireStart,
} from '../wire/thread-shapes.js'
import { threadMethods, type WireMethod, wireOptions } from './thread-methods.js'

export interface ThreadSessionOptions {
  readonly startThread: (options: ThreadOptions, signal: AbortSignal) => Promise<Thread>
  readonly onWarning: (warning: Error) => void
}

type State =
  | { readonly kind: 'new' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'serving'; readonly thread: Thread; readonly methods: ReadonlyMap<string, WireMethod> }
  | { readonly kind: 'closed' }

const ANSWERS: readonly ApprovalAnswer[] = ['approve', 'approve_for_session', 'approve_always', 'decline']

/** A client that uses a thread of the broker as its own. The end of its socket is the end of the thread. */
export class ThreadSession {
  /** Resolves when the thread is gone. Never rejects. */
  readonly closed: Promise<void>
  readonly #options: ThreadSessionOptions
  readonly #peer: Peer
  #state: State = { kind: 'new' }
  #ended: () => void = () => undefined

  constructor(socket: Socket, options: ThreadSessionOptions) {
    this.#options = options
    this.closed = new Promise((resolve) => {
      this.#ended = resolve
    })
    const transport = new SocketTransport(socket, { limit: BROKER_LIMITS.clientFrame, peer: "the broker's client" })
    this.#peer = new Peer(transport, {
      onRequest: (method, params, request) => this.#answer(method, params ?? {}, request),
      onNotification: () => undefined,
      onClose: ({ error }) => void this.#end(error),
      onWarning: options.onWarning,
    })
  }

  start(): Promise<void> {
    return this.#peer.start()
  }

  get thread(): Thread | undefined {
    return this.#state.kind === 'serving' ? this.#state.thread : undefined
  }

  async close(): Promise<void> {
    await this.#peer.close()
    await this.closed
  }

  /** Errors cross whole; the JSON-RPC error is only their envelope. */
  async #answer(method: string, params: JsonObject, request: InboundRequest): Promise<JsonObject> {
    try {
      return await this.#route(method, params, request)
    } catch (error) {
      const wire = errorToWire(error)
      if (wire.code === 'internal') this.#warn(error)
      throw new RpcError(RPC.internalError, String(wire.message), wire)
    }
  }

  async #route(method: string, params: JsonObject, request: InboundRequest): Promise<JsonObject> {
    const call = optionalObject(params, 'call') ?? {}
    if (method === 'thread/start') return this.#startThread(fromWire(call), request.signal)
    if (this.#state.kind !== 'serving') throw new ClosedError('the thread')
    const handler = this.#state.methods.get(method)
    if (handler === undefined) throw new RpcError(RPC.methodNotFound, `Method not found: ${method.slice(0, 200)}`)
    return handler(call, wireOptions(this.#peer, params, request, this.#warn))
  }

  async #startThread({ answers, approves, ...options }: WireStart, signal: AbortSignal): Promise<JsonObject> {
    if (this.#state.kind !== 'new') throw new ClosedError('the start of the thread')
    this.#state = { kind: 'starting' }
    const thread = await this.#options.startThread(
      {
        ...options,
        onEvent: (event) => this.#tell(event),
        ...(answers && { onRequest: (request, asked) => this.#ask(request, asked) }),
        ...(approves && { onApproval: (request, asked) => this.#approve(request, asked) }),
      },
      signal,
    )
    if (this.#isClosed()) {
      await thread.close()
      throw new ClosedError('the thread')
    }
    this.#state = { kind: 'serving', thread, methods: threadMethods(thread) }
    return toWire({ id: thread.id, servers: thread.servers().map(statusToWire) })
  }

  #isClosed(): boolean {
    return this.#state.kind === 'closed'
  }

  #ask({ key, method, params, origin }: FromServer, signal: AbortSignal): Promise<JsonObject> {
    return this.#peer.request(ASK, toWire({ key, method, params, origin }), { signal })
  }

  async #approve(request: ApprovalRequest, signal: AbortSignal | undefined): Promise<ApprovalAnswer> {
    const { answer } = await this.#peer.request(APPROVE, toWire(request), signal === undefined ? {} : { signal })
    return ANSWERS.find((one) => one === answer) ?? 'decline'
  }

  #tell(event: ThreadEvent): void {
    const changes = event.type !== 'notification' && event.type !== 'warning'
    const told: WireEvent = {
      event,
      ...(changes && this.thread && { servers: this.thread.servers().map(statusToWire) }),
    }
    this.#peer.notify(EVENT, toWire(told)).catch(this.#warnUnlessClosed)
  }

  async #end(error: Error | undefined): Promise<void> {
    const { thread } = this
    this.#state = { kind: 'closed' }
    if (error !== undefined) this.#warn(error)
    try {
      await thread?.close()
    } catch (fault) {
      this.#warn(fault)
    }
    this.#ended()
  }

  readonly #warnUnlessClosed = (error: unknown): void => {
    if (this.#state.kind !== 'closed') this.#warn(error)
  }

  readonly #warn = (error: unknown): void => {
    this.#options.onWarning(error instanceof Error ? error : new Error(String(error)))
  }
}
