import type { Era, JsonObject, ReceivedOn, RequestId } from '../../protocol/index.js'
import type { Caller } from '../in-flight.js'
import type { InventoryPart } from '../inventory-listing.js'
import type { ServerMessage } from '../session.js'
import type { RequestOptions } from '../types.js'

export type OwnFields = readonly (readonly [name: string, value: string])[]

/** How one request is exchanged, whatever its era. */
export interface ExchangeOptions extends Pick<RequestOptions, 'signal' | 'timeoutMs' | 'onProgress'> {
  readonly headers?: OwnFields
  readonly tellsCancellation?: boolean
  readonly mayBeEnded?: boolean
  /** Nobody waits for its end: it keeps no session open. */
  readonly aside?: boolean
  readonly onId?: (id: RequestId) => void
}

/** What a dialect speaks over: one session's requests and notifications, as they are. */
export interface Line {
  exchange(
    method: string,
    params: JsonObject | undefined,
    options: ExchangeOptions,
    caller?: Caller,
  ): Promise<JsonObject>
  tell(method: string, params: JsonObject | undefined, headers?: OwnFields): Promise<void>
}

export type SessionRequestOptions = Omit<RequestOptions, 'origin' | 'inputRequired'>

/** How one era says what callers want. The rest of a connection does not know which one it is. */
export interface Dialect {
  readonly era: Era
  /** False: in this era a server asks nothing by a request, and must not be answered. */
  readonly answersRequests: boolean
  request(
    method: string,
    params: JsonObject | undefined,
    options: SessionRequestOptions,
    caller?: Caller,
  ): Promise<JsonObject>
  notify(method: string, params: JsonObject | undefined): Promise<void>
  /** A notification as callers are to hear it; undefined when it was meant for the dialect alone. */
  heard(message: ServerMessage, on: ReceivedOn): ServerMessage | undefined
  /** Sets up again what callers had set up on an earlier session. Never rejects. */
  restore(): Promise<void>
  /** What callers set up has changed. */
  noted(): void
  /** Whether the server would say now that this part of its offer changed. */
  announces(part: InventoryPart): boolean
}
