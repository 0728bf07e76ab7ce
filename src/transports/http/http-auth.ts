import type { HeaderField } from './header-fields.js'

/** One HTTP operation, as its credential source sees it. */
export interface HttpOperation {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** The URL of this attempt: after a redirect, the new one. */
  readonly url: string
  readonly origin: string
  /** The JSON-RPC method of a POST, so that a source can tell what may be repeated. */
  readonly rpcMethod?: string
  /** The tool of a `tools/call`. */
  readonly tool?: string
}

export interface Refusal {
  readonly status: number
  readonly challenge: string | undefined
  /** `DPoP-Nonce`: what the next proof has to hold (RFC 9449, 9). */
  readonly dpopNonce?: string | undefined
  /** What `headers` gave for the refused attempt, so that a source knows which token was rejected. */
  readonly headers: readonly HeaderField[]
}

/**
 * Where the credentials of a connection come from. It is asked for every single attempt of every POST, GET and DELETE,
 * redirects, retries and resumptions included: nothing it gives is kept.
 */
export interface HttpAuth {
  headers(operation: HttpOperation): Promise<readonly HeaderField[]>
  /** After a 401, at most once per operation. True: new headers may help, send this operation once more. */
  onUnauthorized?(operation: HttpOperation, refusal: Refusal): Promise<boolean>
  /** After a 403, which is told to the caller whatever this does. */
  onForbidden?(operation: HttpOperation, refusal: Refusal): Promise<void>
}
