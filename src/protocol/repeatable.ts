/** Tell what is there, and change nothing. */
const READS: ReadonlySet<string> = new Set([
  'ping',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
])

/** Set what is set the same way again, or only help with typing. */
const SETTERS: ReadonlySet<string> = new Set([
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
])

const HANDSHAKES: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/** Whether the request only reads (reference: runtime-auth, 14). */
export function isRead(method: string): boolean {
  return READS.has(method)
}

/** Whether the request opens a conversation. It may be asked again, by whoever conducts that conversation. */
export function isHandshake(method: string): boolean {
  return HANDSHAKES.has(method)
}

/**
 * Whether the request may be sent a second time when nobody knows whether the first was carried out: it reads, or sets
 * what is set. Never a tool call, which may do something twice, and nothing that isn't known here (reference:
 * connections, 10.10).
 */
export function isRepeatable(method: string): boolean {
  return READS.has(method) || SETTERS.has(method)
}
