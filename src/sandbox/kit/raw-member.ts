/** The name stands there twice: readers disagree on which one counts. */
export class RepeatedMemberError extends Error {
  constructor(name: string) {
    super(`the member ${JSON.stringify(name)} is there twice`)
  }
}

/**
 * The text of a member of a member …, exactly as it is written: `JSON.parse` would lose digits of large numbers, spellings
 * and the order of members. Undefined when something on the way is missing or no object.
 *
 * @param text JSON that `JSON.parse` accepts
 * @throws RepeatedMemberError
 */
export function rawMember(text: string, path: readonly string[]): string | undefined {
  let from = skipBlanks(text, 0)
  for (const name of path) {
    const found = memberAt(text, from, name)
    if (found === undefined) return undefined
    from = found
  }
  return text.slice(from, endOfValue(text, from))
}

/** Where the value of the member starts. */
function memberAt(text: string, object: number, wanted: string): number | undefined {
  if (text[object] !== '{') return undefined
  let found: number | undefined
  let at = skipBlanks(text, object + 1)
  while (text[at] === '"') {
    const end = endOfString(text, at)
    const value = skipBlanks(text, skipBlanks(text, end) + 1)
    if (nameOf(text.slice(at, end)) === wanted) {
      if (found !== undefined) throw new RepeatedMemberError(wanted)
      found = value
    }
    // Past the comma, or to the closing brace.
    const after = skipBlanks(text, endOfValue(text, value))
    at = text[after] === ',' ? skipBlanks(text, after + 1) : after
  }
  return found
}

function nameOf(written: string): unknown {
  return written.includes('\\') ? JSON.parse(written) : written.slice(1, -1)
}

function endOfValue(text: string, from: number): number {
  const first = text[from]
  if (first === '"') return endOfString(text, from)
  return first === '{' || first === '[' ? endOfContainer(text, from) : endOfWord(text, from)
}

function endOfContainer(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at) - 1
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return text.length
}

function endOfString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfWord(text: string, from: number): number {
  let at = from
  while (at < text.length && !',]} \t\r\n'.includes(text.charAt(at))) at += 1
  return at
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
  return at
}
