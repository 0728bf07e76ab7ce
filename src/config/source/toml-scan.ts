import type { Path } from './raw.js'

/** Told about every key of a TOML text, in order. `Node` is whatever the visitor keeps for one key. */
export interface TomlVisitor<Node> {
  /** A `[table]` or `[[table]]` header; `end` is after its last bracket. */
  table(path: Path, ofArray: boolean, start: number, end: number): Node
  /** A key of a table, or of an inline table; `path` has several parts when it is dotted. */
  key(within: Node, path: Path, start: number): Node
  /** An item of an array. */
  item(within: Node, index: number, start: number): Node
  /** The value of a key or item: its range, and what it is. */
  value?(node: Node, start: number, end: number, kind: 'scalar' | 'array' | 'inline table'): void
}

/** Walks a text that has been parsed before: syntax is trusted, and nothing is read twice. */
export function scanToml<Node>(text: string, root: Node, visitor: TomlVisitor<Node>): void {
  new TomlScanner(text, visitor).scan(root)
}

class TomlScanner<Node> {
  readonly #text: string
  readonly #visitor: TomlVisitor<Node>
  #at = 0

  constructor(text: string, visitor: TomlVisitor<Node>) {
    this.#text = text
    this.#visitor = visitor
  }

  scan(root: Node): void {
    let table = root
    for (;;) {
      this.#skipBlank()
      if (this.#at >= this.#text.length) return
      if (this.#peek() === '[') table = this.#header()
      else this.#keyValue(table)
    }
  }

  #header(): Node {
    const start = this.#at
    const ofArray = this.#text.startsWith('[[', start)
    this.#at += ofArray ? 2 : 1
    const path = this.#key()
    this.#at += ofArray ? 2 : 1
    return this.#visitor.table(path, ofArray, start, this.#at)
  }

  #keyValue(table: Node): void {
    const start = this.#at
    const node = this.#visitor.key(table, this.#key(), start)
    if (this.#peek() === '=') this.#at += 1
    this.#value(node)
  }

  /** A dotted key with the space after it. */
  #key(): string[] {
    const parts: string[] = []
    for (;;) {
      this.#skipSpace()
      parts.push(this.#keyPart())
      this.#skipSpace()
      if (this.#peek() !== '.') return parts
      this.#at += 1
    }
  }

  #keyPart(): string {
    const quote = this.#peek()
    if (quote === '"' || quote === "'") {
      const start = this.#at
      this.#skipString(quote)
      const inner = this.#text.slice(start + 1, this.#at - 1)
      return quote === "'" ? inner : unescapeBasic(inner)
    }
    const bare = this.#match(/[A-Za-z0-9_-]+/y)
    if (bare === '') this.#at += 1
    return bare
  }

  #value(node: Node): void {
    this.#skipSpace()
    const start = this.#at
    const next = this.#peek()
    if (next === '{') {
      this.#inlineTable(node)
      this.#visitor.value?.(node, start, this.#at, 'inline table')
    } else if (next === '[') {
      this.#array(node)
      this.#visitor.value?.(node, start, this.#at, 'array')
    } else {
      this.#scalar(next)
      this.#visitor.value?.(node, start, start + this.#text.slice(start, this.#at).trimEnd().length, 'scalar')
    }
  }

  #scalar(next: string): void {
    if (next !== '"' && next !== "'") this.#match(/[^,\]}#\n]*/y)
    else this.#skipString(this.#text.startsWith(next.repeat(3), this.#at) ? next.repeat(3) : next)
  }

  #inlineTable(node: Node): void {
    this.#at += 1
    for (;;) {
      this.#skipBlank()
      const next = this.#peek()
      if (next === '' || next === '}') break
      if (next === ',') this.#at += 1
      else this.#keyValue(node)
    }
    this.#at += 1
  }

  #array(node: Node): void {
    this.#at += 1
    for (let index = 0; ; ) {
      this.#skipBlank()
      const next = this.#peek()
      if (next === '' || next === ']') break
      if (next === ',') this.#at += 1
      else {
        this.#value(this.#visitor.item(node, index, this.#at))
        index += 1
      }
    }
    this.#at += 1
  }

  /** A loop, since a regular expression with alternatives overflows on strings of many megabytes. */
  #skipString(quote: string): void {
    const escapes = quote.startsWith('"')
    this.#at += quote.length
    while (this.#at < this.#text.length && !this.#text.startsWith(quote, this.#at))
      this.#at += escapes && this.#peek() === '\\' ? 2 : 1
    this.#at += quote.length
    // A multi-line string may end in up to two quotes of its own.
    if (quote.length === 3) this.#match(escapes ? /"{0,2}/y : /'{0,2}/y)
  }
  #peek(): string {
    return this.#text.charAt(this.#at)
  }
  #skipSpace(): void {
    this.#match(/[ \t]*/y)
  }
  #skipBlank(): void {
    do this.#match(/[ \t\r\n\uFEFF]*/y)
    while (this.#match(/#[^\n]*/y) !== '')
  }
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\u001b'],
])

function unescapeBasic(text: string): string {
  return text.replace(
    /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))/g,
    (_, short?: string, long?: string, byte?: string, plain = '') => {
      const code = short ?? long ?? byte
      return code === undefined ? (ESCAPES.get(plain) ?? plain) : String.fromCodePoint(Number.parseInt(code, 16))
    },
  )
}
