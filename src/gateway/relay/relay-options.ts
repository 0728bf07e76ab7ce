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
  /** Whether a request to this server has to be told from the others that are out, as `CallOptions.apart` has it. */
  readonly mustBeApart?: (key: ServerKey) => boolean
}

/** What goes down to the server that the request is for; without what is the gateway's own. */
export function callOptionsOf({ onBound: _, mustBeApart, ...options }: RelayOptions, key?: ServerKey): CallOptions {
  return key !== undefined && mustBeApart?.(key) ? { ...options, apart: true } : options
}
