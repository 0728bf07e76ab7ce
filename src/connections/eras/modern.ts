import { HttpStatusError, OperationTimeoutError, RpcError, SessionExpiredError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import {
  type HeaderMarks,
  headerMarks,
  type JsonObject,
  type JsonValue,
  MODERN_REVISION,
  MODERN_RPC,
  parameterHeaders,
  type ReceivedOn,
  type RequestEnvelope,
  RPC,
  standardHeaders,
  withEnvelope,
} from '../../protocol/index.js'
import { orAborted } from '../abort.js'
import type { Caller } from '../in-flight.js'
import type { InventoryPart } from '../inventory-listing.js'
import type { ServerMessage } from '../session.js'
import type { SessionMemory } from '../session-memory.js'
import type { Timers } from '../timers.js'
import type { ClientProfile } from '../types.js'
import type { Dialect, ExchangeOptions, Line, OwnFields, SessionRequestOptions } from './dialect.js'
import { Listener } from './listener.js'
import { checkResultType } from './result-type.js'
import { offersSubscriptions } from './subscription-filter.js'

export interface ModernSetting {
  readonly key: ServerKey
  readonly profile: ClientProfile
  readonly memory: SessionMemory
  /** Over HTTP, parts of each message are mirrored into header fields. */
  readonly mirrors: boolean
  /** The live definition of a tool. */
  readonly tool: (name: string) => JsonObject | undefined
  /** The server no longer takes this revision. */
  readonly onRevisionRefused: () => void
  readonly timers: Timers
  /** The listings that may have changed while nobody listened. */
  readonly onMissed: (lists: ReadonlySet<InventoryPart>) => void
  readonly warn: (error: unknown) => void
}

const LISTEN = 'subscriptions/listen'
/** It goes on until somebody ends it, and keeps no session open. */
const AS_STREAM = { aside: true, mayBeEnded: true } as const

/** Notifications of older revisions that this one knows no more. */
const GONE: ReadonlySet<string> = new Set(['notifications/initialized', 'notifications/roots/list_changed'])

/**
 * The modern era (specification 2026-07-28): every request says its revision, client and capabilities; nothing is set up
 * beforehand. What older revisions set up by requests is kept here and put into the later ones.
 */
export class ModernDialect implements Dialect {
  readonly era = 'modern'
  readonly answersRequests = false
  readonly #line: Line
  readonly #setting: ModernSetting
  readonly #listener: Listener
  /** By definition: a schema may be large, and does not change. */
  readonly #marks = new WeakMap<JsonObject, HeaderMarks>()
  #capabilities: JsonObject = {}

  constructor(line: Line, setting: ModernSetting) {
    this.#line = line
    this.#setting = setting
    this.#listener = new Listener({
      ...setting,
      subscribedUris: () => setting.memory.subscribedUris,
      open: (params, how) => this.ask(LISTEN, params, { ...how, ...AS_STREAM }),
    })
  }

  /** The era was agreed on: from now on the server is listened to. */
  begin(capabilities: JsonObject): void {
    this.#capabilities = capabilities
    this.#listener.start(capabilities)
  }

  async request(
    method: string,
    params: JsonObject | undefined,
    options: SessionRequestOptions,
    caller?: Caller,
  ): Promise<JsonObject> {
    if (method === 'ping' || method === 'logging/setLevel' || method === 'resources/unsubscribe') return {}
    if (method === 'resources/subscribe') return this.#subscribe(params, options)
    const { key, profile } = this.#setting
    const { logLevel, ...rest } = options
    if (method === LISTEN) return this.ask(LISTEN, params, { ...rest, ...AS_STREAM }, caller)
    try {
      const result = await this.ask(method, params, rest, caller, logLevel)
      checkResultType(result, profile.capabilities, key, method)
      return result
    } catch (error) {
      throw this.#unlessRefused(error)
    }
  }

  /** One request in the clothes of this era, its answer as it is. */
  ask(
    method: string,
    params: JsonObject | undefined,
    options: ExchangeOptions,
    caller?: Caller,
    logLevel?: string,
  ): Promise<JsonObject> {
    const sent = withEnvelope(params, this.#envelope(logLevel))
    const headers = this.#headers(method, sent)
    // Over HTTP the end of the exchange says it all.
    const tellsCancellation = options.tellsCancellation ?? !this.#setting.mirrors
    return this.#line.exchange(method, sent, { ...options, tellsCancellation, ...(headers && { headers }) }, caller)
  }

  async notify(method: string, params: JsonObject | undefined): Promise<void> {
    if (GONE.has(method)) return
    await this.#line.tell(method, withEnvelope(params, this.#envelope(undefined)), this.#headers(method, params))
  }

  heard(message: ServerMessage, on: ReceivedOn): ServerMessage | undefined {
    return this.#listener.take(message, on)
  }

  /** What callers set up is said with each request. */
  async restore(): Promise<void> {}

  noted(): void {
    this.#listener.changed()
  }

  announces(part: InventoryPart): boolean {
    return this.#listener.hears(part)
  }

  /** The session is over, or will never begin. */
  end(): void {
    this.#listener.stop()
  }

  async #subscribe(params: JsonObject | undefined, options: SessionRequestOptions): Promise<JsonObject> {
    const { key } = this.#setting
    const uri = params?.uri
    if (typeof uri !== 'string') throw new RpcError(RPC.invalidParams, 'uri must be a text', undefined, key)
    if (!offersSubscriptions(this.#capabilities)) {
      throw new RpcError(RPC.methodNotFound, 'the server offers no subscriptions to its resources', undefined, key)
    }
    await this.#inTime('resources/subscribe', options, (signal) => this.#listener.include(uri, signal))
    return {}
  }

  async #inTime(
    method: string,
    { signal, timeoutMs }: SessionRequestOptions,
    work: (signal: AbortSignal | undefined) => Promise<void>,
  ): Promise<void> {
    if (timeoutMs === undefined) return work(signal)
    const { key, timers } = this.#setting
    const late = new AbortController()
    const timer = timers.after(timeoutMs, () => late.abort(new OperationTimeoutError(method, timeoutMs, key)))
    try {
      await orAborted(work(signal), late.signal)
    } finally {
      timer.cancel()
    }
  }

  #envelope(logLevel: string | undefined): RequestEnvelope {
    const { clientInfo, capabilities } = this.#setting.profile
    return {
      protocolVersion: MODERN_REVISION,
      clientInfo,
      clientCapabilities: capabilities,
      ...(logLevel !== undefined && { logLevel }),
    }
  }

  #headers(method: string, params: JsonObject | undefined): OwnFields | undefined {
    if (!this.#setting.mirrors) return undefined
    return [
      ['MCP-Protocol-Version', MODERN_REVISION],
      ...standardHeaders(params === undefined ? { method } : { method, params }),
      ...this.#parameterHeaders(method, params),
    ]
  }

  #parameterHeaders(method: string, params: JsonObject | undefined): OwnFields {
    if (method !== 'tools/call' || typeof params?.name !== 'string') return []
    const tool = this.#setting.tool(params.name)
    if (tool === undefined) return []
    const marks = this.#marks.get(tool) ?? headerMarks(tool.inputSchema)
    this.#marks.set(tool, marks)
    return 'invalid' in marks ? [] : parameterHeaders(marks.marks, objectOrNone(params.arguments))
  }

  /** A server that speaks otherwise by now has carried nothing out: how to speak to it is found out again. */
  #unlessRefused(error: unknown): unknown {
    if (!saysOtherwise(error)) return error
    this.#setting.onRevisionRefused()
    return new SessionExpiredError({ key: this.#setting.key, cause: error })
  }
}

/** Refusals that a server of this revision does not give: it has an error of its own for each of its reasons. */
function saysOtherwise(error: unknown): boolean {
  if (error instanceof RpcError) return error.rpcCode === MODERN_RPC.unsupportedProtocolVersion
  if (error instanceof HttpStatusError) return NOT_SPOKEN.has(error.status)
  return error instanceof SessionExpiredError
}

/** Bad request, not found, method not allowed, not acceptable, unsupported media type: without a word of JSON-RPC. */
const NOT_SPOKEN: ReadonlySet<number> = new Set([400, 404, 405, 406, 415])

function objectOrNone(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}
