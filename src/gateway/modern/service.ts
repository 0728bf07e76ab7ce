import { ClosedError, LimitExceededError, ReeveError, RpcError } from '../../errors.js'
import { headerMarks, INPUT_METHODS, type JsonObject, type JsonValue, RPC } from '../../protocol/index.js'
import { Bridge, type Conversation, errorIn, keptIn, LiveCall, type WaitingClient } from '../bridge/index.js'
import { ALL_REVISIONS } from '../eras.js'
import type { FrontOptions } from '../front.js'
import { progressToken } from '../relay/call-options.js'
import { isMediated } from '../relay/environment-roots.js'
import { toRpcError } from '../relay/errors.js'
import { profileOf } from '../relay/handshake.js'
import { isLogLevel } from '../relay/logging.js'
import { invalidParams, isObject } from '../relay/params.js'
import type { RelayOptions } from '../relay/relay-options.js'
import { shareOf } from '../share.js'
import { requireTasks } from '../tasks/index.js'
import { Conducts } from './conduct.js'
import { ModernEars } from './ears.js'
import { finishResult } from './finish.js'
import { MODERN_LIMITS, type ModernLimits } from './limits.js'
import { readFilter } from './listen-filter.js'
import { Listening } from './listening.js'
import { ModernThread } from './modern-thread.js'
import type { ModernRequest } from './request.js'
import { ThreadShelf } from './thread-shelf.js'

export interface ModernOptions extends FrontOptions {
  readonly modernLimits?: Partial<ModernLimits>
  /** All requests are of one client. Default false: clients that say the same of themselves can't be told apart. */
  readonly isOneClient?: boolean
  /** Told of every thread that is opened for a principal. */
  readonly onThread?: (thread: ModernThread, principal: string) => void
}

/** Methods of the legacy era that this one has not (changelog 2026-07-28, major 1 to 6). */
const REMOVED: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/result',
  'tasks/list',
])

/** Serves the modern era: each request by itself, over whichever transport it came. */
export class ModernService {
  readonly #options: ModernOptions
  readonly #limits: ModernLimits
  readonly #threads: ThreadShelf<ModernThread>
  readonly #bridge: Bridge
  readonly #conducts = new Conducts()
  readonly #shutdown = new AbortController()
  /** Open streams, by principal. */
  readonly #listens = new Map<string, number>()

  constructor(options: ModernOptions) {
    this.#options = options
    this.#limits = { ...MODERN_LIMITS, ...options.modernLimits }
    this.#threads = new ThreadShelf(
      (principal, profile) => this.#openThread(principal, profile),
      this.#limits,
      this.#warn,
    )
    this.#bridge = new Bridge({
      ttlMs: this.#limits.requestStateMs,
      total: this.#limits.heldCalls,
      perPrincipal: this.#limits.heldCallsPerPrincipal,
      ...(options.stateFolder !== undefined && {
        keeping: keptIn(options.stateFolder, { ttlMs: this.#limits.requestStateMs, onFault: this.#warn }),
      }),
    })
  }

  /** @throws RpcError and nothing else */
  async answer(request: ModernRequest): Promise<JsonObject> {
    try {
      return await this.#route(request)
    } catch (error) {
      if (!(error instanceof ReeveError)) this.#warn(error)
      const server = error instanceof RpcError && error.key !== undefined ? 'legacy' : undefined
      throw errorIn('modern', server, request.method, toRpcError(error))
    }
  }

  /** Ends streams with their result and cancels what is held; resolves when the threads are gone. */
  async close(): Promise<void> {
    this.#shutdown.abort()
    this.#bridge.close()
    await this.#threads.close()
  }

  #route(request: ModernRequest): Promise<JsonObject> {
    const { method, params, envelope } = request
    if (this.#shutdown.signal.aborted) throw new ClosedError('the gateway')
    if (REMOVED.has(method)) throw removed(method)
    if (envelope.logLevel !== undefined && !isLogLevel(envelope.logLevel)) throw invalidParams('Invalid log level')
    if (method === 'server/discover') return this.#discover(request)
    if (method === 'subscriptions/listen') return this.#listen(request)
    if (!INPUT_METHODS.has(method)) return this.#relay(request)
    const bridged = { ...waitingClient(request), principal: request.principal, method, params }
    return this.#bridge.answer(bridged, (further) => this.#converse({ ...request, params: further }, bridged, true))
  }

  async #discover(request: ModernRequest): Promise<JsonObject> {
    return this.#withThread(request, async (thread) => {
      const introduction = await thread.introduction(request.params, request.signal)
      const { serverInfo, capabilities, instructions, further } = introduction
      const discovered: JsonObject = {
        ...further,
        resultType: 'complete',
        supportedVersions: [...ALL_REVISIONS],
        capabilities,
        ...(instructions !== undefined && { instructions }),
        // Servers come and go.
        ttlMs: 0,
        cacheScope: 'private',
      }
      return finishResult(discovered, serverInfo)
    })
  }

  async #listen(request: ModernRequest): Promise<JsonObject> {
    const filter = readFilter(request.params, this.#limits.subscriptions)
    if (filter.taskIds.length > 0) requireTasks(request.envelope.clientCapabilities)
    const { principal } = request
    const [own, all] = [this.#listens.get(principal) ?? 0, sum(this.#listens.values())]
    if (all >= this.#limits.listens || own >= shareOf(this.#limits.listens, principal))
      throw new LimitExceededError('the number of open streams', this.#limits.listens)
    this.#listens.set(principal, own + 1)
    try {
      return await this.#withThread(request, async (thread) => {
        const ended = await new Listening(request, thread, filter).run(this.#shutdown.signal)
        return finishResult(ended, thread.serverInfo)
      })
    } finally {
      const left = (this.#listens.get(principal) ?? 1) - 1
      if (left > 0) this.#listens.set(principal, left)
      else this.#listens.delete(principal)
    }
  }

  async #relay(request: ModernRequest): Promise<JsonObject> {
    const { call } = await this.#converse(request, waitingClient(request), false)
    const turn = await call.next()
    if (turn.kind === 'result') return turn.result
    throw turn.kind === 'error' ? turn.error : new RpcError(RPC.internalError, 'Internal error')
  }

  /** Begins a call that goes on until its server has answered, whether or not the client still waits for it. */
  async #converse(request: ModernRequest, waiting: WaitingClient, mayAsk: boolean): Promise<Conversation> {
    const { thread, release } = await this.#threads.lease(request.principal, profileOf(request.envelope))
    const call = new LiveCall(waiting, mayAsk)
    const leave = thread.ears.calls.add(call)
    const finish = (result: JsonObject) => finishResult(result, thread.serverInfo)
    const answered = thread.relay
      .answer(request.method, request.params, this.#relayOptions(request, thread, call))
      .then((result) => finish(withoutUnreachableTools(request, result)))
    call.follow(
      answered.finally(() => {
        leave()
        release()
      }),
    )
    return { call, finish }
  }

  #relayOptions(request: ModernRequest, thread: ModernThread, call: LiveCall): RelayOptions {
    const { logLevel } = request.envelope
    const { isOneClient = false } = this.#options
    return {
      signal: call.signal,
      origin: call,
      inputRequired: 'return',
      mediates: (key) => isMediated(thread.thread, key),
      ...(logLevel !== undefined && { logLevel }),
      ...(!isOneClient && { hearer: call }),
      ...(progressToken(request.params) !== undefined && { onProgress: (params: JsonObject) => call.progress(params) }),
      onBound: async (key, tool) => {
        if (tool !== undefined) request.checkParameters?.(tool.inputSchema, request.params.arguments)
        if (logLevel !== undefined) await thread.logLevels.lower(key, logLevel)
        const alone = !isOneClient && logLevel !== undefined && thread.mixesLogs(key)
        await thread.ears.calls.enter(call, key, { told: () => thread.tellsCallsApart(key), alone })
      },
    }
  }

  async #withThread<T>(request: ModernRequest, use: (thread: ModernThread) => Promise<T>): Promise<T> {
    const { thread, release } = await this.#threads.lease(request.principal, profileOf(request.envelope))
    try {
      return await use(thread)
    } finally {
      release()
    }
  }

  async #openThread(principal: string, profile: ReturnType<typeof profileOf>): Promise<ModernThread> {
    const ears = new ModernEars(this.#conducts, this.#options.isOneClient)
    const thread = await ModernThread.open({ ...this.#options, principal }, profile, ears)
    this.#options.onThread?.(thread, principal)
    return thread
  }

  readonly #warn = (error: unknown): void => {
    this.#options.onWarning(error instanceof Error ? error : new Error(String(error)))
  }
}

function waitingClient({ signal, params, envelope, notify }: ModernRequest): WaitingClient {
  return {
    signal,
    capabilities: envelope.clientCapabilities,
    progressToken: progressToken(params),
    logLevel: envelope.logLevel,
    notify,
  }
}

/** Over HTTP, tools whose marked parameters could not be mirrored are no tools (specification 2026-07-28, x-mcp-header). */
function withoutUnreachableTools({ method, checkParameters }: ModernRequest, result: JsonObject): JsonObject {
  if (method !== 'tools/list' || checkParameters === undefined || !Array.isArray(result.tools)) return result
  const reachable = result.tools.filter(
    (tool: JsonValue) => !isObject(tool) || !('invalid' in headerMarks(tool.inputSchema)),
  )
  return reachable.length === result.tools.length ? result : { ...result, tools: reachable }
}

function removed(method: string): RpcError {
  const served = `this request speaks a revision without it; served are ${ALL_REVISIONS.join(', ')}`
  return new RpcError(RPC.methodNotFound, `Method not found: ${method}: ${served}`)
}

function sum(numbers: Iterable<number>): number {
  let all = 0
  for (const number of numbers) all += number
  return all
}
