import type { JsonObject } from './message.js'
import type { ReceivedOn, SendOptions, Transport, TransportClosed } from './transport.js'

/** What the owner of a peer answers. */
export interface PeerHandlers {
  /** A request of the other side. A thrown `RpcError` keeps code, message and data; anything else is -32603. */
  onRequest(method: string, params: JsonObject | undefined, context: InboundRequest): Promise<JsonObject>
  onNotification(method: string, params: JsonObject | undefined, on: ReceivedOn): void
  onClose(closed: TransportClosed): void
  onWarning(warning: Error): void
}

export interface InboundRequest extends ReceivedOn {
  readonly id: string | number
  /** Fires when the other side cancels, or the transport ends. */
  readonly signal: AbortSignal
}

export interface PeerRequestOptions extends SendOptions {
  readonly timeoutMs?: number
  readonly onProgress?: (params: JsonObject) => void
}

export declare class PeerContract {
  constructor(transport: Transport, handlers: PeerHandlers)
  start(): Promise<void>
  request(method: string, params?: JsonObject, options?: PeerRequestOptions): Promise<JsonObject>
  notify(method: string, params?: JsonObject, options?: SendOptions): Promise<void>
  close(): Promise<void>
}
