import { type JsonObject, type JsonValue, MODERN_REVISION, MODERN_RPC, namedRevision, RPC } from '../protocol/index.js'

/** The revisions with a handshake that the gateway serves, oldest first. */
export const SERVED_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

export type Revision = (typeof SERVED_REVISIONS)[number]

export const LATEST_REVISION: Revision = '2025-11-25'

/** Every revision of both eras, newest first. */
export const ALL_REVISIONS: readonly string[] = [MODERN_REVISION, ...[...SERVED_REVISIONS].reverse()]

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

/** Methods that no legacy client knows: asked without an envelope, the envelope is what is missing. */
const MODERN_ONLY: ReadonlySet<string> = new Set(['server/discover', 'subscriptions/listen', 'tasks/update'])

/** Whether a message is of the modern era: it names its revision itself, or nobody else would send it. */
export function isModern({ method, params }: { readonly method: string; readonly params?: JsonObject }): boolean {
  return namedRevision(params) !== undefined || MODERN_ONLY.has(method)
}

/** `UnsupportedProtocolVersion` of the modern era; legacy clients only see the HTTP status. */
export function unsupportedRevision(requested: string): { code: number; message: string; data: JsonValue } {
  return {
    code: MODERN_RPC.unsupportedProtocolVersion,
    message: `Unsupported protocol version: supported are ${ALL_REVISIONS.join(', ')}`,
    data: { supported: [...ALL_REVISIONS], requested: requested.slice(0, 64) },
  }
}

/** The answer to a request without its envelope (specification 2026-07-28, per-request protocol fields). */
export function missingEnvelope(member: string): { code: number; message: string } {
  return { code: RPC.invalidParams, message: `Invalid params: _meta['${member}'] is missing or of the wrong type` }
}
