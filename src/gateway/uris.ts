import { type ServerKey, serverKey } from '../identity/index.js'

/** A resource's URI (or template) as its server knows it, and whose it is. */
export interface OwnedUri {
  readonly key: ServerKey
  readonly uri: string
}

/**
 * The exact name of a server's resource among all servers: `reeve://<server>[@<environment>]/<raw URI>`, both
 * percent-encoded, the raw URI untouched, so that a template still expands as its server meant it. `ui://x` becomes
 * `ui://reeve.<server>[@<environment>]/x`: hosts know their apps by the scheme.
 *
 * Pure and reversible ({@link parseUri}), whatever the names and the URI hold. Throws `URIError` for a name with half a
 * surrogate pair, which no server that started has.
 *
 * @example
 * ```ts
 * qualifyUri(serverKey('notes'), 'file:///a.md')            // 'reeve://notes/file:///a.md'
 * qualifyUri(serverKey('notes', 'devbox'), 'file:///{path}') // 'reeve://notes@devbox/file:///{path}'
 * qualifyUri(serverKey('charts'), 'ui://pie')                // 'ui://reeve.charts/pie'
 * ```
 */
export function qualifyUri(key: ServerKey, uri: string): string {
  return uri.startsWith(UI) ? `${OWNED_UI}${authority(key)}/${uri.slice(UI.length)}` : qualifyOwned(OWNED, key, uri)
}

/**
 * Reads a qualified URI back; undefined for every other text. Says nothing about whether the server exists. Names that
 * somebody encoded in another way, and a `ui:` resource that a template was expanded to, are understood too.
 */
export function parseUri(qualified: string): OwnedUri | undefined {
  const owned = parseOwned(OWNED, qualified)
  if (owned !== undefined) return owned
  if (qualified.startsWith(OWNED_UI)) return split(qualified.slice(OWNED_UI.length), UI)
  return undefined
}

/** A text of a server under a scheme of ours, as {@link qualifyUri} does it with URIs. */
export function qualifyOwned(scheme: string, key: ServerKey, text: string): string {
  return `${scheme}${authority(key)}/${text}`
}

/** Reads one back; undefined for every other text. */
export function parseOwned(scheme: string, qualified: string): OwnedUri | undefined {
  return qualified.startsWith(scheme) ? split(qualified.slice(scheme.length), '') : undefined
}

const OWNED = 'reeve://'
const UI = 'ui://'
const OWNED_UI = 'ui://reeve.'

function authority(key: ServerKey): string {
  return key.environment === null ? encode(key.name) : `${encode(key.name)}@${encode(key.environment)}`
}

function split(text: string, scheme: string): OwnedUri | undefined {
  const slash = text.indexOf('/')
  if (slash === -1) return undefined
  const [name, environment, ...rest] = text.slice(0, slash).split('@')
  if (name === undefined || rest.length > 0) return undefined
  try {
    const key = serverKey(decodeURIComponent(name), environment === undefined ? null : decodeURIComponent(environment))
    return { key, uri: scheme + text.slice(slash + 1) }
  } catch {
    return undefined
  }
}

/** `'` is the one character that encodeURIComponent leaves and a URI template may not hold (RFC 6570, 2.1). */
function encode(part: string): string {
  return encodeURIComponent(part).replaceAll("'", '%27')
}
