import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { ConfigError } from '../../errors.js'
import { emptyTable, lineIndex, type Path, placeText, type Raw, type SourceDocument } from './raw.js'

/** Deeper documents are refused: the parser and every walk after it are recursive. */
const MAX_DEPTH = 200

/** Where each member of each table and each item of each list starts. */
type Offsets = Map<Raw, Map<string, number>>

/**
 * Parses JSON with comments and trailing commas; of a member written twice the last counts.
 *
 * @throws ConfigError `syntax` with line and column, `too_deep`, or `wrong_type` when the root is no object.
 */
export function parseJson(file: string, text: string): SourceDocument {
  const positionAt = lineIndex(text)
  const place = (offset: number) => placeText(file, positionAt(offset), [])
  refuseDepth(text, place)
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: false })
  const first = errors[0]
  if (first !== undefined || tree === undefined) {
    const { line, column } = positionAt(first?.offset ?? 0)
    const message = `${first === undefined ? 'the file is empty' : reasonOf(first, text)} at line ${line} column ${column}`
    throw new ConfigError('syntax', message, { place: place(first?.offset ?? 0), data: { line, column } })
  }
  if (tree.type !== 'object') throw new ConfigError('wrong_type', 'the file must hold an object', { place: place(0) })
  const reading: TreeReading = { text, offsets: new Map(), duplicates: [] }
  const root = tableOf(tree, [], reading)
  const position = (path: Path) => {
    const offset = offsetOf(root, path, reading.offsets)
    return offset === undefined ? undefined : positionAt(offset)
  }
  return {
    file,
    root,
    duplicates: reading.duplicates,
    position,
    written: (path) => path,
  }
}

interface TreeReading {
  readonly text: string
  readonly offsets: Offsets
  readonly duplicates: Path[]
}

function tableOf(node: Node, path: Path, reading: TreeReading): Record<string, Raw> {
  const table = emptyTable()
  const offsets = new Map<string, number>()
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? []
    if (key === undefined || value === undefined) continue
    const name = String(key.value)
    if (offsets.has(name)) reading.duplicates.push([...path, name])
    offsets.set(name, property.offset)
    table[name] = rawOf(value, [...path, name], reading)
  }
  reading.offsets.set(table, offsets)
  return table
}

function listOf(node: Node, path: Path, reading: TreeReading): readonly Raw[] {
  const offsets = new Map<string, number>()
  const list = (node.children ?? []).map((child, index) => {
    offsets.set(String(index), child.offset)
    return rawOf(child, [...path, String(index)], reading)
  })
  reading.offsets.set(list, offsets)
  return list
}

function rawOf(node: Node, path: Path, reading: TreeReading): Raw {
  switch (node.type) {
    case 'object':
      return tableOf(node, path, reading)
    case 'array':
      return listOf(node, path, reading)
    case 'number': {
      const digits = reading.text.slice(node.offset, node.offset + node.length)
      return /^-?\d{1,40}$/.test(digits) ? BigInt(digits) : Number(digits)
    }
    case 'string':
    case 'boolean':
      return node.value
    default:
      return null
  }
}

function offsetOf(root: Raw, path: Path, offsets: Offsets): number | undefined {
  let value: Raw | undefined = root
  let offset: number | undefined
  for (const part of path) {
    const found = value === undefined ? undefined : offsets.get(value)?.get(part)
    if (found === undefined) break
    offset = found
    value = memberOf(value, part)
  }
  return offset
}

function memberOf(value: Raw | undefined, part: string): Raw | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Date) return undefined
  return Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined
}

/** Counts brackets outside strings and comments. No regular expression: those overflow on strings of many megabytes. */
function refuseDepth(text: string, place: (offset: number) => string): void {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') at = stringEnd(text, at)
    else if (character === '/' && text[at + 1] === '/') at = foundOrEnd(text, '\n', at)
    else if (character === '/' && text[at + 1] === '*') at = foundOrEnd(text, '*/', at + 2) + 1
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > MAX_DEPTH)
      throw new ConfigError('too_deep', `is nested deeper than ${MAX_DEPTH} levels`, { place: place(at) })
  }
}

/** Where a string ends: at its quote, or at the line's end when it has none. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"' && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1
  return at
}

function foundOrEnd(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from)
  return found === -1 ? text.length : found
}

/** Something else where a key stands is the commonest fault; the others read well as they are called. */
function reasonOf({ error, offset }: ParseError, text: string): string {
  const afterBrace = /\{\s*$/.test(text.slice(Math.max(0, offset - 200), offset))
  if (printParseErrorCode(error) === 'InvalidSymbol' && afterBrace) return 'key must be a string'
  return wordsOf(printParseErrorCode(error))
}

/** `PropertyNameExpected` → `property name expected`. */
function wordsOf(code: string): string {
  return code
    .replace(/([A-Z])/g, ' $1')
    .trim()
    .toLowerCase()
}
