import type { Socket } from 'node:net'
import type { FromServer, ReadyClient, ServerStatus } from '../../../connections/index.js'
import { CancelledError, RpcError, UnsupportedError } from '../../../errors.js'
import type { ServerKey } from '../../../identity/index.js'
import { type JsonObject, RPC } from '../../../protocol/index.js'
import type {
  ApprovalRequest,
  ApprovalTarget,
  CallOptions,
  Prompts,
  Resources,
  ServerSelector,
  Thread,
  ThreadEvent,
  ThreadOptions,
  ToolStep,
  ToolThread,
} from '../../../threads/index.js'
import {
  APPROVE,
  ASK,
  EVENT,
  fromWire,
  statusFromWire,
  type WireClient,
  type WireEvent,
  type WireStart,
  type WireStarted,
  type WireStatus,
  type WireStep,
} from '../wire/thread-shapes.js'
import { RemoteCalls } from './remote-calls.js'
import { remotePrompts, remoteResources } from './remote-listings.js'
import { RemoteStep } from './remote-step.js'

/**
 * A thread that lives in the broker, used as if it lived here. Its calls are cancelled by their signals, and all at once
 * when this process ends in whatever way. An error has the code and the facts that it had there; one that a broker's end
 * caused is `broker_lost`.
 */
export class RemoteThread implements ToolThread {
  readonly id: string
  readonly resources: Resources
  readonly prompts: Prompts
  readonly #calls: RemoteCalls
  readonly #news: RemoteNews

  /** Starts it on a socket that is past the handshake. */
  static async start(socket: Socket, options: ThreadOptions = {}, signal?: AbortSignal): Promise<RemoteThread> {
    const { onRequest, onEvent, onApproval, reviewer, hooks, onHook, elicitations, ...rest } = options
    refuseOwnCode({ reviewer, hooks, onHook, elicitations })
    const news = new RemoteNews(options)
    const calls = new RemoteCalls(socket, {
      onRequest: (method, params, asked) => news.answer(method, params, asked, calls),
      onNotification: (method, params) => news.hear(method, params, calls),
    })
    await calls.start()
    try {
      const start: WireStart = { ...rest, answers: onRequest !== undefined, approves: onApproval !== undefined }
      const started = await calls.request<WireStarted>('thread/start', start, signal === undefined ? {} : { signal })
      news.take(started.servers)
      return new RemoteThread(started.id, calls, news)
    } catch (error) {
      await calls.close()
      throw error
    }
  }

  private constructor(id: string, calls: RemoteCalls, news: RemoteNews) {
    this.id = id
    this.#calls = calls
    this.#news = news
    this.resources = remoteResources(calls)
    this.prompts = remotePrompts(calls)
  }

  async step(options: Parameters<Thread['step']>[0] = {}): Promise<ToolStep> {
    const { signal, wait } = options
    const taken = await this.#calls.request<WireStep>('thread/step', { wait }, signal === undefined ? {} : { signal })
    this.#news.take(taken.servers)
    return new RemoteStep(taken, this.#calls)
  }

  callTool(call: Parameters<Thread['callTool']>[0], options?: CallOptions): Promise<JsonObject> {
    return this.#calls.request<JsonObject>('thread/callTool', call, options)
  }

  approvalOf(
    call: Parameters<Thread['approvalOf']>[0],
    options?: { readonly signal?: AbortSignal },
  ): Promise<ApprovalTarget> {
    return this.#calls.request<ApprovalTarget>('thread/approvalOf', call, options)
  }

  complete(call: Parameters<Thread['complete']>[0], options?: CallOptions): Promise<JsonObject> {
    return this.#calls.request<JsonObject>('thread/complete', call, options)
  }

  async client(
    selector: ServerSelector,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<{ key: ServerKey; client: ReadyClient }> {
    const { key, servers, ...facts } = await this.#calls.request<WireClient>('thread/client', selector, options)
    this.#news.take(servers)
    const at: ServerSelector = { server: key.name, environment: key.environment }
    const client: ReadyClient = {
      ...facts,
      instructions: facts.instructions,
      request: (method, params, how) => this.#calls.request<JsonObject>('client/request', { at, method, params }, how),
      notify: async (method, params) => {
        await this.#calls.request('client/notify', { at, method, params })
      },
    }
    return { key, client }
  }

  async setLogLevel(level: string): Promise<void> {
    await this.#calls.request('thread/setLogLevel', { level })
  }

  async rootsChanged(): Promise<void> {
    await this.#calls.request('thread/rootsChanged', {})
  }

  servers(): readonly ServerStatus[] {
    return this.#news.servers
  }

  /** The broker ends the thread when the socket ends, and that isn't waited for. */
  close(): Promise<void> {
    return this.#calls.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** What has code of the host's own in it runs where the thread does, and a thread of the broker is in another process. */
function refuseOwnCode(own: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(own).filter((name) => own[name] !== undefined)
  if (given.length === 0) return
  const names = given.map((name) => `\`${name}\``).join(', ')
  throw new UnsupportedError(
    `a thread of the broker takes no ${names}: these are for threads of this process (\`Reeve.startThread\`)`,
  )
}

/** What the broker tells and asks of its own accord. */
class RemoteNews {
  servers: readonly ServerStatus[] = Object.freeze([])
  readonly #options: ThreadOptions

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  take(servers: readonly WireStatus[]): void {
    this.servers = Object.freeze(servers.map(statusFromWire))
  }

  hear(method: string, params: JsonObject, calls: RemoteCalls): void {
    if (method !== EVENT) return
    const { event, servers } = fromWire<WireEvent>(params)
    if (servers !== undefined) this.take(servers)
    this.#options.onEvent?.(withOrigin(event, calls))
  }

  async answer(method: string, params: JsonObject, signal: AbortSignal, calls: RemoteCalls): Promise<JsonObject> {
    const { onRequest, onApproval } = this.#options
    if (method === ASK && onRequest !== undefined) {
      const asked = fromWire<FromServer>(params)
      return onRequest({ ...asked, origin: calls.originOf(asked.origin) }, signal)
    }
    if (method === APPROVE && onApproval !== undefined) {
      const answer = await onApproval(fromWire<ApprovalRequest>(params), signal)
      if (signal.aborted) throw new CancelledError()
      return { answer }
    }
    throw new RpcError(RPC.methodNotFound, `nobody here answers ${method.slice(0, 200)}`)
  }
}

function withOrigin(event: ThreadEvent, calls: RemoteCalls): ThreadEvent {
  if (event.type !== 'notification') return event
  const { notification } = event
  return { ...event, notification: { ...notification, origin: calls.originOf(notification.origin) } }
}
