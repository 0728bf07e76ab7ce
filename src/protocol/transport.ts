import type { JsonRpcMessage, RequestId } from './message.js'

/** How a message goes out. */
export interface SendOptions {
  /**
   * Upstream: ends the wait (and the HTTP exchange) of this one message.
   * A transport adds at most one listener per message and removes it again.
   */
  readonly signal?: AbortSignal
  /** Downstream: the client request that this message belongs to; decides which response stream carries it. */
  readonly relatedTo?: RequestId
  /**
   * HTTP, upstream: header fields of this message alone. A message that brings its own is complete in itself (revision
   * 2026-07-28): it goes out without a session, and its response stream is not taken up again.
   */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** Where a message came in. */
export interface ReceivedOn {
  /** The own request whose response stream carried the message; absent on stdio and on the standalone GET stream. */
  readonly relatedTo?: RequestId
}

/** Why a transport ended. `error` is absent after an orderly close by this side. */
export interface TransportClosed {
  readonly error?: Error
}

/**
 * One MCP connection's frames, either direction. The peer sets the callbacks before `start`. Messages are delivered in
 * order, one at a time, and never after `onclose`. `onclose` fires exactly once.
 *
 * The message was checked to be a JSON-RPC object (one of the four shapes); everything inside is as it came.
 */
export interface Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  /** A fault that does not end the transport: noise on stdout, an unreadable SSE event, a failed GET stream. */
  onwarning: ((warning: Error) => void) | undefined

  start(): Promise<void>
  /**
   * Resolves when the message was handed over (stdio: written; HTTP: accepted, a request: its answer was delivered). So
   * it may stay open for as long as the request does, and reject late, e.g. when the response stream is cut.
   * Rejects with a `ReeveError`; when it rejects for a request, no response to it will be delivered.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>
  /** Ends everything that the transport opened; resolves when it is gone, in bounded time. Idempotent. */
  close(): Promise<void>

  /** Called once after the handshake with the negotiated revision (HTTP sends it as a header). */
  protocolVersion?: (version: string) => void
}
