/**
 * Every character outside `[A-Za-z0-9_]` becomes `_`, case stays, empty becomes `_` (reference: identity-and-names, 2).
 * A character is a code point: one emoji gives one underscore.
 */
export function sanitise(raw: string): string {
  return raw === '' ? '_' : raw.replace(/[^A-Za-z0-9_]/gu, '_')
}

/** The prefix text `mcp__<name>__` of a server (reference: identity-and-names, 6). For matching and display. */
export function serverPrefix(server: string): string {
  return `mcp__${sanitise(server)}__`
}
