/**
 * A parsed value before anything is known about it, the same for TOML and JSON: integers are `bigint`, other numbers
 * `number`, tables have no prototype (so that a server may be called `constructor`).
 */
export type Raw = string | bigint | number | boolean | null | Date | readonly Raw[] | RawTable

export interface RawTable {
  readonly [member: string]: Raw
}

/** Member names from the root of a document; an index of a list is written in digits. */
export type Path = readonly string[]

/** 1-based, as editors count; the column counts UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** One file's content and where its members stand. */
export interface SourceDocument {
  /** The path as the user gave it, for places. */
  readonly file: string
  readonly root: RawTable
  /** Where the last known member on the way to `path` is written. */
  position(path: Path): Position | undefined
  /** The path as the file calls it; differs for foreign files, which are read as if they were ours. */
  written(path: Path): Path
  /** Members written twice, where the format lets that pass (JSON). */
  readonly duplicates: readonly Path[]
}

export function isTable(value: Raw | undefined): value is RawTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

export function emptyTable(): Record<string, Raw> {
  return Object.create(null)
}

/** A copy whose tables have no prototype, as the parsers make them; what is no value becomes null. */
export function rawCopy(value: unknown): Raw {
  if (Array.isArray(value)) return value.map(rawCopy)
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    const table = emptyTable()
    for (const [name, item] of Object.entries(value)) if (item !== undefined) table[name] = rawCopy(item)
    return table
  }
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value
  return typeof value === 'number' || value instanceof Date ? value : null
}

/** `mcp_servers.x.env.A`; parts that are no bare TOML keys are quoted. */
export function pathText(path: Path): string {
  return path.map((part) => (/^[A-Za-z0-9_-]{1,80}$/.test(part) ? part : JSON.stringify(shortened(part)))).join('.')
}

/** Text of a file in an error may be of any length. */
export function shortened(text: string, length = 80): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** `file:line:column member`, as much as is known. */
export function placeText(file: string, position: Position | undefined, path: Path): string {
  const where = position === undefined ? file : `${file}:${position.line}:${position.column}`
  return path.length === 0 ? where : `${where} ${pathText(path)}`
}

/** The place of a member of a document, in the document's own words. */
export function placeIn(document: SourceDocument, path: Path): string {
  return placeText(document.file, document.position(path), document.written(path))
}

/** Turns offsets of a text into positions; one pass over the text, then a binary search each. */
export function lineIndex(text: string): (offset: number) => Position {
  const starts = [0]
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}
