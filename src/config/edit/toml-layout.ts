import type { Path } from '../source/raw.js'
import { scanToml } from '../source/toml-scan.js'

/** One `key = value` and where it stands in the text. */
export interface LayoutEntry {
  /** From the root of the document. */
  readonly path: Path
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
  readonly kind: 'scalar' | 'array' | 'inline table'
  /** Of an inline table. */
  readonly members: readonly LayoutEntry[]
}

/** A header with the entries under it; the first section has none. */
export interface LayoutSection {
  readonly path: Path
  readonly ofArray: boolean
  readonly start: number
  /** After the header's last bracket. */
  readonly headerEnd: number
  readonly entries: readonly LayoutEntry[]
}

/** The parts of a TOML text that has been parsed before, in order. */
export function tomlLayout(text: string): readonly LayoutSection[] {
  const root: Container = { path: [], list: [] }
  const sections: LayoutSection[] = [{ path: [], ofArray: false, start: 0, headerEnd: 0, entries: root.list }]
  scanToml<Container>(text, root, {
    table(path, ofArray, start, end) {
      const table: Container = { path, list: [] }
      sections.push({ path, ofArray, start, headerEnd: end, entries: table.list })
      return table
    },
    key: (within, path, start) => ({ path: [...within.path, ...path], list: [], start, within: within.list }),
    // Nothing inside an array is ever edited by itself.
    item: (within) => ({ path: within.path, list: [] }),
    value({ path, list, start, within }, valueStart, valueEnd, kind) {
      if (start !== undefined) within?.push({ path, start, valueStart, valueEnd, kind, members: list })
    },
  })
  return sections
}

interface Container {
  readonly path: Path
  readonly list: LayoutEntry[]
  /** Of a key: where it starts, and the list it belongs to. */
  readonly start?: number
  readonly within?: LayoutEntry[]
}

export function isUnder(path: Path, ancestor: Path): boolean {
  return path.length >= ancestor.length && ancestor.every((part, index) => part === path[index])
}

export function isSame(a: Path, b: Path): boolean {
  return a.length === b.length && isUnder(a, b)
}
