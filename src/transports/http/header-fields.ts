import type { HttpServer } from '../../config/index.js'
import { InvalidArgumentsError } from '../../errors.js'

export type HeaderField = readonly [name: string, value: string]

/** The layers of one operation's headers, in the order in which they are laid over each other. */
export interface HeaderLayers {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** `http_headers` and `env_http_headers`, checked. */
  readonly configured: readonly HeaderField[]
  readonly protocolVersion?: string
  /** What the credential source gave for this very operation. */
  readonly auth: readonly HeaderField[]
  /** What the message says of itself. */
  readonly headers?: readonly HeaderField[]
  readonly sessionId?: string
  readonly lastEventId?: string
}

const ACCEPT = { POST: 'text/event-stream, application/json', GET: 'text/event-stream', DELETE: undefined } as const

/**
 * The headers of one operation; a later layer replaces a field of an earlier one, whatever its case. Source: reference,
 * connections 10.2.
 *
 * Throws `InvalidArgumentsError` when a generated field can't be sent; it names the field and never shows the value.
 */
export function buildHeaders(layers: HeaderLayers): HeaderField[] {
  const fields = new Map<string, HeaderField>()
  const lay = (name: string, value: string | undefined) => {
    if (value === undefined) return
    if (!isSendable(name, value))
      throw new InvalidArgumentsError(`the generated header '${shownName(name)}' is invalid`)
    fields.set(name.toLowerCase(), [name, value])
  }
  lay('User-Agent', 'reeve')
  for (const [name, value] of layers.configured) lay(name, value)
  lay('MCP-Protocol-Version', layers.protocolVersion)
  // They stand before the credentials, which can't replace them.
  for (const fields of [layers.headers ?? [], layers.auth, layers.headers ?? []])
    for (const [name, value] of fields) lay(name, value)
  lay('Accept', ACCEPT[layers.method])
  lay('Content-Type', layers.method === 'POST' ? 'application/json' : undefined)
  lay('Mcp-Session-Id', layers.sessionId)
  lay('Last-Event-ID', layers.lastEventId)
  return [...fields.values()]
}

export interface ConfiguredHeaders {
  readonly fields: readonly HeaderField[]
  readonly warnings: readonly InvalidArgumentsError[]
}

/**
 * `http_headers`, then `env_http_headers` over them. An unset or blank variable is passed over; a field that can't be
 * sent is warned about and left out (reference: connections, 10.1).
 */
export function configuredHeaders(
  server: HttpServer,
  env: Readonly<Record<string, string | undefined>>,
  label: string,
): ConfiguredHeaders {
  const fields = new Map<string, HeaderField>()
  const warnings: InvalidArgumentsError[] = []
  const add = (member: string, name: string, value: string) => {
    if (isSendable(name, value)) fields.set(name.toLowerCase(), [name, value])
    else {
      const text = `MCP server '${label}': header '${shownName(name)}' of ${member} can't be sent and is left out`
      warnings.push(new InvalidArgumentsError(text, { place: `${label} ${member}.${shownName(name)}` }))
    }
  }
  for (const [name, value] of Object.entries(server.httpHeaders)) add('http_headers', name, value)
  for (const [name, variable] of Object.entries(server.envHttpHeaders)) {
    const value = env[variable]
    if (value !== undefined && value.trim() !== '') add('env_http_headers', name, value)
  }
  return { fields: [...fields.values()], warnings }
}

/** A valid name and value, and not one of the fields that belong to the connection itself. */
export function isSendable(name: string, value: string): boolean {
  return TOKEN.test(name) && !CONNECTION_FIELDS.has(name.toLowerCase()) && isHeaderValue(value)
}

/** TAB or any character from 0x20 up, except DEL; non-ASCII goes out as UTF-8. Source: reference, connections 2. */
export function isHeaderValue(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return false
  }
  return true
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** The HTTP client owns these: a configured one would break the framing or is refused by it. */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A header's name in an error text. */
export function shownName(name: string): string {
  return JSON.stringify(name).slice(1, -1).slice(0, 100)
}
