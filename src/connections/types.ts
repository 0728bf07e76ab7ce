import type { ServerSandbox } from '../config/index.js'
import type { ReeveError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import type { Era, JsonObject, RequestId } from '../protocol/index.js'

/** What this side declares in `initialize`. Part of a connection's identity. */
export interface ClientProfile {
  readonly clientInfo: JsonObject
  readonly capabilities: JsonObject
  /** Members of `initialize` that no revision knows, and its `_meta`; servers are told them as they are. */
  readonly further?: JsonObject
}

/** A request or notification that a server sent, with the call that caused it where the wire says so. */
export interface FromServer {
  readonly key: ServerKey
  readonly method: string
  readonly params: JsonObject | undefined
  /** The `origin` of the request in flight that this belongs to: by HTTP stream, or the only one in flight on stdio. */
  readonly origin: unknown
  /** It is no server's word: the runtime itself asks about a call of that server. */
  readonly isApproval?: true
  /** Of a request, as the server numbered it: another server may use the same. Absent: it came in a result. */
  readonly requestId?: RequestId
}

/** Handed down by the thread. `ping` is answered below and never arrives here. */
export type ServerRequestHandler = (request: FromServer, signal: AbortSignal) => Promise<JsonObject>

export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Milliseconds of active time; the clock stops while a request from this server is being answered. */
  readonly timeoutMs?: number
  /** Receives the params of `notifications/progress`, its token put back to the caller's. */
  readonly onProgress?: (params: JsonObject) => void
  /** Opaque to everything below; comes back in `FromServer.origin`. */
  readonly origin?: unknown
  /**
   * What happens when a modern server asks for input in its result. `answer` (default): the `ServerRequestHandler` is
   * asked and the request repeated until it is complete. `return`: the caller gets the `input_required` result as it came
   * and repeats the request itself, with `inputResponses` and `requestState` in its params.
   */
  readonly inputRequired?: 'answer' | 'return'
  /** The least level of log messages for this request; modern servers only, legacy ones have `logging/setLevel`. */
  readonly logLevel?: string
  /**
   * Who hears the log of this request, where several clients stand behind the caller: requests of the same one may be
   * out together, whatever the wire tells of a line. Opaque; absent: the caller is one client.
   */
  readonly hearer?: unknown
}

/** How long, and for whom, a result may be kept (specification 2026-07-28, caching). */
export interface CacheHint {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** A connection that finished its handshake. All values as the server sent them. */
export interface ReadyClient {
  readonly era: Era
  readonly protocolVersion: string
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  /** What else the answer to the handshake held: its `_meta`, and members that no revision knows. */
  readonly further: JsonObject
  /** Raw relay: the result as it came, a JSON-RPC error as `RpcError`. Recovers an expired session once. */
  request(method: string, params: JsonObject | undefined, options?: RequestOptions): Promise<JsonObject>
  notify(method: string, params?: JsonObject): Promise<void>
}

export type ConnectionStatus =
  | 'not_started'
  | 'starting'
  | 'connected'
  | 'failed'
  | 'authentication_required'
  | 'cancelled'
  | 'disabled'

/** One row per key; made without starting or awaiting anything. */
export interface ServerStatus {
  readonly key: ServerKey
  readonly status: ConnectionStatus
  readonly required: boolean
  readonly transport: 'stdio' | 'streamable_http' | 'sse'
  readonly executionEnvironment: string
  /** That its configuration asks for. */
  readonly sandbox?: ServerSandbox
  /** Of the plugin that brought it: the root's id, or `plugin@marketplace`. */
  readonly pluginId?: string
  /** Not in use, since that server hides it: in compatibility mode alone (reference: known-quirks, 1). */
  readonly hiddenBy?: ServerKey
  /** Since when, milliseconds since the epoch. */
  readonly since: number
  readonly error?: ReeveError
  readonly failureReason?: 'reauthenticationRequired'
  /** When the next automatic attempt is due after a crash. */
  readonly retryAt?: number
  /** Known while the server is up. */
  readonly era?: Era
  /** The revision that the tools shown were listed in. */
  readonly protocolVersion?: string
  readonly serverInfo?: JsonObject
  readonly capabilities?: JsonObject
  readonly instructions?: string
  /** What the result of `tools/list` holds beside the tools. */
  readonly toolList?: JsonObject
  readonly tools?: number
  /** True while the tools shown come from the cache and no client is ready. */
  readonly cached: boolean
}

export type ConnectionEvent =
  | {
      readonly type: 'status'
      readonly key: ServerKey
      readonly status: 'starting' | 'ready' | 'failed' | 'cancelled'
      /** Display text of the reference (connections, 6). */
      readonly error?: string
      readonly failureReason?: 'reauthenticationRequired'
    }
  | {
      readonly type: 'startup_summary'
      readonly ready: readonly ServerKey[]
      readonly failed: readonly { readonly key: ServerKey; readonly error: string }[]
      readonly cancelled: readonly ServerKey[]
    }
  /** What a server offers changed (first listing, list_changed, restart). */
  | { readonly type: 'inventory_changed'; readonly key: ServerKey; readonly what: 'tools' | 'resources' | 'prompts' }
  /** Any other notification of a server: log messages, resource updates, unknown ones. */
  | { readonly type: 'notification'; readonly notification: FromServer }
  | { readonly type: 'warning'; readonly key: ServerKey; readonly code: string; readonly message: string }
