import { type JsonObject, type JsonValue, RPC } from '../protocol/index.js'

/** The revisions with a handshake that the gateway serves, oldest first. */
export const SERVED_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
export type Revision = (typeof SERVED_REVISIONS)[number]

export const LATEST_REVISION: Revision = '2025-11-25'

/** What an HTTP request without `MCP-Protocol-Version` speaks (specification 2025-06-18, transports). */
export const UNNAMED_REVISION: Revision = '2025-03-26'

export function isServed(revision: string): revision is Revision {
  return (SERVED_REVISIONS as readonly string[]).includes(revision)
}

/** The client's own revision when it is served, else our latest; the client then decides whether to stay. */
export function negotiate(asked: string): Revision {
  return isServed(asked) ? asked : LATEST_REVISION
}

/** JSON-RPC batches came and went with one revision. */
export function allowsBatches(revision: Revision | undefined): boolean {
  return revision === '2025-03-26'
}

/** Event streams begin with an empty event that carries an id and a retry time from this revision on. */
export function primesStreams(revision: Revision | undefined): boolean {
  return revision === '2025-11-25'
}

/**
 * Which era an inbound message belongs to. `handshake`: sessions opened with `initialize`. `discovery`: the revisions
 * without a handshake, of which the gateway serves none yet. Every inbound request and POST is classified here and
 * nowhere else.
 */
export type Era = 'handshake' | 'discovery'

export function eraOf(request: { readonly method: string; readonly params?: JsonObject | undefined }): Era {
  return request.method === 'server/discover' ? 'discovery' : 'handshake'
}

/** The answer that sends a client of the discovery era back to `initialize`. */
export function refuseDiscovery(): { code: number; message: string; data: JsonValue } {
  return {
    code: RPC.methodNotFound,
    message: 'server/discover is not served: use initialize',
    data: { supported: [...SERVED_REVISIONS] },
  }
}

/** `UnsupportedProtocolVersion` of the discovery era; older clients only see the HTTP status. */
export function unsupportedRevision(requested: string): { code: number; message: string; data: JsonValue } {
  return {
    code: -32022,
    message: `Unsupported protocol version: supported are ${SERVED_REVISIONS.join(', ')}`,
    data: { supported: [...SERVED_REVISIONS], requested: requested.slice(0, 64) },
  }
}
