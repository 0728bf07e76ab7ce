import type { HeaderField } from '../header-field.js'
import type { Authorization, ConnectionAuth } from './connection-auth.js'

/** One HTTP attempt of a transport; its `HttpOperation` fits. */
export interface OperationOfTransport {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly url: string
  readonly rpcMethod?: string
  /** The tool of a `tools/call`. */
  readonly tool?: string
}

/** A transport's credential source; fits its `HttpAuth`. */
export interface AuthOfTransport {
  headers(operation: OperationOfTransport): Promise<readonly HeaderField[]>
  onUnauthorized(
    operation: OperationOfTransport,
    refusal: { readonly headers: readonly HeaderField[] },
  ): Promise<boolean>
}

export interface TransportAuthOptions {
  /** Whether the tool that a `tools/call` is for is declared idempotent; asked only then. */
  readonly isIdempotent?: (operation: OperationOfTransport) => boolean
  /** A forced refresh that failed: the 401 itself is what the caller gets. */
  readonly onProblem?: (problem: Error) => void
}

/**
 * A connection's auth as transports take it: asked for every attempt, it gives headers or rejects with the
 * `FirstPartyAuthError` of the refusal, and nothing is sent. The transport must be opened with `redirects` of the same
 * connection. A session whose credential was replaced is ended with its own.
 */
export function transportAuth(connection: ConnectionAuth, options: TransportAuthOptions = {}): AuthOfTransport {
  const described = (operation: OperationOfTransport) => ({
    ...operation,
    isIdempotent: operation.rpcMethod === 'tools/call' && (options.isIdempotent?.(operation) ?? false),
  })
  return {
    headers: async (operation) => {
      const isEnd = operation.method === 'DELETE'
      return headersOf(
        isEnd ? await connection.authorizeEnd(operation.url) : await connection.authorize(described(operation)),
      )
    },
    onUnauthorized: async (operation, { headers }) => {
      if (operation.method === 'DELETE') return false
      try {
        return await connection.unauthorized(described(operation), headers)
      } catch (error) {
        if (error instanceof Error) options.onProblem?.(error)
        return false
      }
    },
  }
}

function headersOf(authorization: Authorization): readonly HeaderField[] {
  if (authorization.kind === 'refused') throw authorization.error
  return authorization.headers
}
