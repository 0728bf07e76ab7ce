import { fault } from '../schema/shape.js'
import { isTable, type Path, type Raw, type RawTable, rawCopy, shortened } from '../source/raw.js'

/** Headers that belong to the client, whatever a plugin says (reference: catalog, 7.3). */
const OF_THE_CLIENT: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

/** An HTTP server of an Agent Plugin, in the shape of a configuration. @throws ConfigError that names the member */
export function agentHttpEntry(declared: RawTable, path: Path, warn: (message: string) => void): Record<string, Raw> {
  const url = checkedUrl(declared.url, [...path, 'url'])
  if (declared.headers === undefined) return { url }
  return { url, http_headers: checkedHeaders(declared.headers, [...path, 'headers'], warn) }
}

function checkedUrl(url: Raw | undefined, path: Path): string {
  if (typeof url !== 'string' || url === '') throw fault('missing_member', 'an HTTP server has a `url`', path)
  // What a parser of URLs would quietly leave out is refused: what is written is what is asked.
  if (/[\s\p{Cc}\\]/u.test(url) || !/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw fault('invalid_value', 'the url must be an absolute http or https URL', path)
  const { protocol, hostname } = new URL(url)
  if (/^[a-z]+:\/\/[^/?#]*@/i.test(url) || url.includes('#'))
    throw fault('invalid_value', 'the url must have neither user information nor a fragment', path)
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw fault('invalid_value', 'the url must use https, except on localhost and loopback addresses', path)
  return url
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function checkedHeaders(headers: Raw, path: Path, warn: (message: string) => void): RawTable {
  if (!isTable(headers)) throw fault('wrong_type', 'headers must be an object of strings', path)
  const seen = new Set<string>()
  const kept: [string, Raw][] = []
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (!TOKEN.test(name)) throw fault('invalid_value', `\`${shortened(name)}\` is no name of a header`, path)
    if (seen.has(lower)) throw fault('invalid_value', `header \`${shortened(name)}\` is given twice`, path)
    if (typeof value !== 'string' || !VALUE.test(value))
      throw fault('invalid_value', `the value of header \`${shortened(name)}\` is no header value`, path)
    seen.add(lower)
    if (OF_THE_CLIENT.has(lower)) warn(`header \`${name}\` belongs to the client and is left out`)
    else kept.push([name, value])
  }
  const table = rawCopy(Object.fromEntries(kept))
  return isTable(table) ? table : {}
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Visible characters, spaces and tabs; above ASCII only what one byte can carry. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
