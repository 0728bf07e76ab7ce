import { StringDecoder } from 'node:string_decoder'

/** What stands for a secret in a preview. */
const REDACTED = '[redacted]'

const PATTERNS = [
  /(?<=\bbearer[ \t]+)[\w.~+/=-]+/gi,
  /(?<=\b(?:x[-_])?(?:api[-_]?key|(?:access|refresh|id)[-_]?token|client[-_]?secret)["']?\s*[=:]\s*["']?)[^\s"'&,;<>{}]+/gi,
]

/**
 * The first `limit` bytes of `bytes` as text, cut on a character boundary, without bearer tokens, API keys and the
 * `secrets` themselves (what was sent to the server and may be echoed). A secret across the cut is replaced whole.
 * Control characters become spaces: this text goes to terminals and logs.
 *
 * Returns also how many bytes of `bytes` are not shown. Source: reference, connections 10.4.
 */
export function redactedPrefix(
  bytes: Buffer,
  limit: number,
  secrets: readonly string[],
): { readonly text: string; readonly dropped: number } {
  const whole = bytes.toString('utf8')
  // A decoder keeps an unfinished character back: what it gives ends on a boundary.
  const kept = bytes.length <= limit ? whole : new StringDecoder('utf8').write(bytes.subarray(0, limit))
  const dropped = Math.max(0, bytes.length - Buffer.byteLength(kept))
  let text = ''
  let at = 0
  for (const [start, end] of secretSpans(whole, secrets)) {
    if (start >= kept.length) break
    if (end <= at) continue
    text += kept.slice(at, start) + (start >= at ? REDACTED : '')
    at = end
  }
  text += kept.slice(at)
  return { text: text.replace(CONTROL, ' ').trim(), dropped: bytes.length <= limit ? 0 : dropped }
}

const CONTROL = /\p{Cc}+/gu

function secretSpans(text: string, secrets: readonly string[]): [number, number][] {
  const spans: [number, number][] = []
  for (const pattern of PATTERNS) {
    for (const match of text.matchAll(pattern)) spans.push([match.index, match.index + match[0].length])
  }
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) {
      spans.push([at, at + secret.length])
    }
  }
  return spans.sort(([a], [b]) => a - b)
}

/** Shorter values would redact ordinary words. */
const SHORTEST_SECRET = 8

/** The values among these headers that must not be shown: all but the harmless ones, and the token behind a scheme. */
export function secretsOf(fields: readonly (readonly [name: string, value: string])[]): string[] {
  const values = fields.flatMap(([, value]) => [value, value.replace(/^\S+[ \t]+/, '')])
  return [...new Set(values)].filter((value) => value.length >= SHORTEST_SECRET)
}
