import { lineIndex, type Path, type Position } from './raw.js'

/** Where a key is written, and the keys below it. */
export interface KeyPositions {
  readonly position: Position | undefined
  readonly below: ReadonlyMap<string, KeyPositions>
}

interface KeyNode {
  position: Position | undefined
  /** Set by the first mention on the way to another key; a key's own line replaces it. */
  implied: boolean
  readonly below: Map<string, KeyNode>
  /** Items of an array of tables so far. */
  items: number
}

/** The position of the deepest key on `path` that is written anywhere. */
export function findInKeys(root: KeyPositions, path: Path): Position | undefined {
  let node = root
  let position: Position | undefined
  for (const part of path) {
    const next = node.below.get(part)
    if (next === undefined) break
    node = next
    position = next.position ?? position
  }
  return position
}

/** Finds every key of a TOML text. The text has been parsed before, so this trusts its syntax and never looks back. */
export function tomlKeyPositions(text: string): KeyPositions {
  return new TomlKeyScanner(text).scan()
}

class TomlKeyScanner {
  readonly #text: string
  readonly #positionAt: (offset: number) => Position
  readonly #root = newNode()
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#positionAt = lineIndex(text)
  }

  scan(): KeyPositions {
    let table = this.#root
    for (;;) {
      this.#skipBlank()
      if (this.#at >= this.#text.length) return this.#root
      if (this.#peek() === '[') table = this.#header()
      else this.#keyValue(table)
    }
  }

  #header(): KeyNode {
    const start = this.#at
    const ofArray = this.#text.startsWith('[[', start)
    this.#at += ofArray ? 2 : 1
    const node = this.#mark(this.#root, this.#key(), start)
    this.#at += ofArray ? 2 : 1
    if (!ofArray) return node
    const item = newNode()
    item.position = this.#positionAt(start)
    node.below.set(String(node.items), item)
    node.items += 1
    return item
  }

  #keyValue(table: KeyNode): void {
    const start = this.#at
    const node = this.#mark(table, this.#key(), start)
    this.#expect('=')
    this.#value(node)
  }

  /** A dotted key up to, and without, the `=` or `]` after it. */
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
    if (quote === '"' || quote === "'") return this.#quoted()
    const bare = this.#match(/[A-Za-z0-9_-]+/y)
    if (bare === '') this.#at += 1
    return bare
  }

  #quoted(): string {
    const start = this.#at
    const literal = this.#peek() === "'"
    this.#skipString(literal ? "'" : '"')
    const token = this.#text.slice(start, this.#at)
    return literal ? token.slice(1, -1) : unescapeBasic(token.slice(1, -1))
  }

  #value(node: KeyNode): void {
    this.#skipSpace()
    const next = this.#peek()
    if (next === '{') this.#inlineTable(node)
    else if (next === '[') this.#array(node)
    else if (this.#text.startsWith('"""', this.#at) || this.#text.startsWith("'''", this.#at))
      this.#skipString(next.repeat(3))
    else if (next === '"' || next === "'") this.#skipString(next)
    else this.#match(/[^,\]}#\n]*/y)
  }

  #inlineTable(node: KeyNode): void {
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

  #array(node: KeyNode): void {
    this.#at += 1
    for (let index = 0; ; ) {
      this.#skipBlank()
      const next = this.#peek()
      if (next === '' || next === ']') break
      if (next === ',') {
        this.#at += 1
        continue
      }
      const item = newNode()
      item.position = this.#positionAt(this.#at)
      node.below.set(String(index), item)
      index += 1
      this.#value(item)
    }
    this.#at += 1
  }

  /** Walks to a key, noting the first mention of what lies on the way. Goes into the newest item of an array of tables. */
  #mark(from: KeyNode, path: readonly string[], offset: number): KeyNode {
    let node = from
    path.forEach((part, index) => {
      if (index > 0 && node.items > 0) node = node.below.get(String(node.items - 1)) ?? node
      let next = node.below.get(part)
      if (next === undefined) {
        next = newNode()
        node.below.set(part, next)
      }
      const own = index === path.length - 1
      if (next.position === undefined || (own && next.implied)) {
        next.position = this.#positionAt(offset)
        next.implied = !own
      }
      node = next
    })
    return node
  }

  #peek(): string {
    return this.#text.charAt(this.#at)
  }
  #expect(character: string): void {
    this.#skipSpace()
    if (this.#peek() === character) this.#at += 1
  }
  /** A loop, since a regular expression with alternatives overflows on strings of many megabytes. */
  #skipString(quote: string): void {
    const escapes = quote.startsWith('"')
    this.#at += quote.length
    while (this.#at < this.#text.length && !this.#text.startsWith(quote, this.#at))
      this.#at += escapes && this.#peek() === '\\' ? 2 : 1
    this.#at += quote.length
    // A multi-line string may end in up to two quotes of its own.
    if (quote.length === 3) this.#match(quote.startsWith('"') ? /"{0,2}/y : /'{0,2}/y)
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

function newNode(): KeyNode {
  return { position: undefined, implied: false, below: new Map(), items: 0 }
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b' }

function unescapeBasic(text: string): string {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))/g, (_, u, U, x, plain) => {
    const code: string | undefined = u ?? U ?? x
    return code === undefined ? (ESCAPES[plain] ?? plain) : String.fromCodePoint(Number.parseInt(code, 16))
  })
}
