import type { LayoutEntry, LayoutSection } from './toml-layout.js'

/** Offsets of a text, the end not in it. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Ranges in order, those that touch made one. */
function joined(ranges: readonly Range[]): readonly Range[] {
  const result: Range[] = []
  for (const range of ranges) {
    const last = result.at(-1)
    if (last?.end === range.start) result[result.length - 1] = { start: last.start, end: range.end }
    else result.push(range)
  }
  return result
}

/** One blank line goes with the block, so that none pile up. */
function withBlankLine(text: string, { start, end }: Range): Range {
  const doubled = isBlankLine(text, end) && (start === 0 || isBlankLineBefore(text, start))
  return { start, end: doubled ? afterLine(text, end) : end }
}

/** The header, its entries and the comment right above; what follows the last entry belongs to what comes next. */
function sectionRange(text: string, section: LayoutSection): Range {
  return { start: startWithComments(text, section.start), end: afterLine(text, endOfSection(section)) }
}

/** What goes with the sections, as few ranges as possible. */
export function blocksOf(text: string, sections: readonly LayoutSection[]): readonly Range[] {
  return joined(sections.map((section) => sectionRange(text, section))).map((range) => withBlankLine(text, range))
}

export function lineRange(text: string, entry: LayoutEntry): Range {
  return { start: lineStart(text, entry.start), end: afterLine(text, entry.valueEnd) }
}

export function insertLine(text: string, after: number, line: string): string {
  const at = afterLine(text, after)
  const end = lineEnd(text)
  if (after === 0) return `${line}${end}${text}`
  const missing = text.slice(after, at).endsWith('\n') ? '' : end
  return replaceRange(text, at, at, `${missing}${line}${end}`)
}

/** Removes the ranges. From the back, so that the offsets of what is still to be removed stay true. */
export function cut(text: string, ranges: readonly Range[]): string {
  return [...ranges]
    .sort((a, b) => b.start - a.start)
    .reduce((current, { start, end }) => replaceRange(current, start, end, ''), text)
}

export function endOfSection(section: LayoutSection | undefined): number {
  return section === undefined ? 0 : (section.entries.at(-1)?.valueEnd ?? section.headerEnd)
}

/** The start of the line, or of the block of comment lines right above it. A comment that opens the file is the file's. */
export function startWithComments(text: string, at: number): number {
  const own = lineStart(text, at)
  let start = own
  while (start > 0) {
    const above = lineStart(text, start - 1)
    if (!/^[ \t]*#(?!:)/.test(text.slice(above, start))) break
    start = above
  }
  return start === 0 ? own : start
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1
}

/** After the line end of the line that `at` is on. */
export function afterLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end + 1
}

function isBlankLine(text: string, at: number): boolean {
  return at < text.length && text.slice(at, afterLine(text, at)).trim() === ''
}

function isBlankLineBefore(text: string, at: number): boolean {
  return text.slice(lineStart(text, at - 1), at).trim() === ''
}

export function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

export function replaceRange(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end)
}
