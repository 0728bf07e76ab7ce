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
  /**
   * Whether this side has a part in what the server asks: then its questions come as questions, and not in a result that
   * is handed to the client as it is.
   */
  readonly mediates?: (key: ServerKey) => boolean
}

/** Without what is the gateway's own; `key` is the server that the request goes to. */
export function callOptionsOf(
  { onBound: _, mediates, ...options }: RelayOptions,
  key: ServerKey | undefined = undefined,
): CallOptions {
  return key !== undefined && mediates?.(key) === true ? { ...options, inputRequired: 'answer' } : options
}
