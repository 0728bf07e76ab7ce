import type { HeaderField } from '../header-field.js'

export interface AuthRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  /** Exactly these go out, in this order, beside `host`, `connection` and `content-length`. */
  readonly headers: readonly HeaderField[]
  readonly body?: string | Uint8Array
  readonly signal: AbortSignal
}

export interface AuthReply {
  readonly status: number
  /** The first field of that name, whatever its case. */
  header(name: string): string | undefined
  /** Decoded text, at most {@link MAX_BODY_BYTES}. */
  readonly body: string
}

/** Replies of the authority are small; more is not read. */
export const MAX_BODY_BYTES = 1024 * 1024

/**
 * How the auth room reaches the authority and the backend. It never follows a redirect and never repeats. `send` rejects
 * when no whole answer came: transport, TLS, abort, or a body over the limit.
 */
export interface AuthHttp {
  send(request: AuthRequest): Promise<AuthReply>
}
