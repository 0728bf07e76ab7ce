import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions } from '../../threads/index.js'

/** How a client's request is relayed. */
export interface RelayOptions extends CallOptions {
  /**
   * Awaited before a request goes to the one server that it is for, with the definition of the tool if it calls one. What
   * it throws is the answer.
   */
  readonly onBound?: (key: ServerKey, tool?: JsonObject) => Promise<void>
}

/** Without what is the gateway's own. */
export function callOptionsOf({ onBound: _, ...options }: RelayOptions): CallOptions {
  return options
}
