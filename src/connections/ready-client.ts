import type { JsonObject } from '../protocol/index.js'
import type { Handshake } from './negotiate.js'
import type { ReadyClient, RequestOptions } from './types.js'

/** How one holder reaches a connection. */
export interface Relay {
  request(method: string, params: JsonObject | undefined, options: RequestOptions): Promise<JsonObject>
  notify(method: string, params: JsonObject | undefined): Promise<void>
}

/** A holder's client: what the handshake said, fixed, and a way to the server that survives its restarts. */
export function readyClient(
  { era, protocolVersion, serverInfo, capabilities, instructions, further }: Handshake,
  relay: Relay,
): ReadyClient {
  return Object.freeze({
    era,
    protocolVersion,
    serverInfo,
    capabilities,
    instructions,
    further,
    request: (method: string, params: JsonObject | undefined, options: RequestOptions = {}) =>
      relay.request(method, params, options),
    notify: (method: string, params?: JsonObject) => relay.notify(method, params),
  })
}
