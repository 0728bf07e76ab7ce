import { ProtocolViolationError } from '../../errors.js'
import { EXEC_LIMITS } from '../../protocol/index.js'

/**
 * Parses JSON that has no key twice in one object and not too many values: `JSON.parse` would silently keep the last of
 * two equal keys, and two readers could then see two different messages.
 *
 * @throws ProtocolViolationError
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ProtocolViolationError('the message is not JSON', { cause })
  }
  scan(text)
  return value
}

/** The keys of each open object; undefined for an open array. */
type Open = Set<string> | undefined

/** Walks text that is known to be JSON: strings are jumped over, so a message that is one large string costs little. */
function scan(text: string): void {
  const open: Open[] = []
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at)
        const keys = open.at(-1)
        if (keys !== undefined && isKey(text, end)) addKey(keys, text.slice(at, end))
        at = end - 1
        break
      }
      case OPEN_OBJECT:
        open.push(new Set())
        values += 1
        break
      case OPEN_ARRAY:
        open.push(undefined)
        values += 1
        break
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        open.pop()
        break
      case COMMA:
        values += 1
        break
    }
    if (values > EXEC_LIMITS.values)
      throw new ProtocolViolationError(`the message has more than ${EXEC_LIMITS.values} values`)
  }
}

function addKey(keys: Set<string>, quoted: string): void {
  const key: unknown = quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1)
  if (typeof key !== 'string') return
  if (keys.has(key)) throw new ProtocolViolationError('the message has a key twice in one object')
  keys.add(key)
}

/** The place behind the closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return end + 1
  }
}

/** A string is a key when a colon follows; no value is followed by one. */
function isKey(text: string, at: number): boolean {
  let next = at
  while (WHITE.has(text.charCodeAt(next))) next += 1
  return text.charCodeAt(next) === COLON
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const WHITE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
