import type { Path, Raw } from '../source/raw.js'
import { isTable } from '../source/raw.js'
import { editItem, type TomlItemEdit } from './item-edit.js'
import {
  blocksOf,
  cut,
  endOfSection,
  insertLine,
  lineEnd,
  lineRange,
  type Range,
  replaceRange,
  startWithComments,
} from './text-ranges.js'
import { isSame, isUnder, type LayoutEntry, type LayoutSection, tomlLayout } from './toml-layout.js'
import { writeEntry, writeKey, writeTable, writeValue } from './toml-write.js'

/** A change of one member, wherever and however it is written. */
export type TomlMemberEdit =
  | { readonly kind: 'set'; readonly path: Path; readonly value: Raw }
  | { readonly kind: 'remove'; readonly path: Path }

export type TomlEdit = TomlMemberEdit | TomlItemEdit

/**
 * Applies edits to a TOML text, leaving every other character as it is, comments first of all. The text must be valid.
 * Own code: @decimalturn/toml-patch 3.3 drops the comment above the table that follows a removed one, and those at the
 * end of a line that it rewrites.
 */
export function editToml(text: string, edits: readonly TomlEdit[]): string {
  return edits.reduce((current, edit) => {
    if (edit.kind === 'set') return setMember(current, edit.path, edit.value)
    return edit.kind === 'remove' ? removeMember(current, edit.path) : editItem(current, edit)
  }, text)
}

function setMember(text: string, path: Path, value: Raw): string {
  const layout = tomlLayout(text)
  const existing = findEntry(layout, path)
  if (existing !== undefined) return replaceRange(text, existing.valueStart, existing.valueEnd, writeValue(value))
  // Written as sections or dotted keys: as a whole it can only be replaced by writing it anew.
  if (isWritten(layout, path)) return setMember(removeMember(text, path), path, value)
  return insertMember(text, layout, path, value)
}

function insertMember(text: string, layout: readonly LayoutSection[], path: Path, value: Raw): string {
  const table = path.slice(0, -1)
  const name = path.slice(-1)
  const inline = enclosingInline(layout, table)
  if (inline !== undefined) return insertInline(text, inline, path.slice(inline.path.length), value)
  const section = layout.find(
    ({ path: own, ofArray, start }) => isSame(own, table) && !ofArray && (start > 0 || own.length > 0),
  )
  // A server gets a section of its own, also where others stand inside `[mcp_servers]`.
  const apart = section === undefined || path.length === 2
  if (isTable(value) && Object.keys(value).length > 0 && apart) return appendTable(text, path, value)
  if (section !== undefined) return insertLine(text, endOfSection(section), writeEntry(name, value))
  const dotted = lastDotted(layout, table)
  if (dotted !== undefined) {
    const key = path.slice(dotted.section.path.length)
    return insertLine(text, dotted.entry.valueEnd, writeEntry(key, value))
  }
  const below = layout.find(({ path: own }) => own.length > table.length && isUnder(own, table))
  if (table.length > 0 && below !== undefined) {
    const at = startWithComments(text, below.start)
    return replaceRange(
      text,
      at,
      at,
      `[${writeKey(table)}]${lineEnd(text)}${writeEntry(name, value)}${lineEnd(text).repeat(2)}`,
    )
  }
  if (table.length > 0) return appendTable(text, table, { [name[0] ?? '']: value })
  return insertLine(text, endOfSection(layout[0]), writeEntry(name, value))
}

function removeMember(text: string, path: Path): string {
  const layout = tomlLayout(text)
  const sections = layout.filter((section) => section.headerEnd > 0 && isUnder(section.path, path))
  const lines = layout
    .filter((section) => !sections.includes(section))
    .flatMap((section) => entriesUnder(section.entries, path))
    .map(({ entry, among }) => (among === undefined ? lineRange(text, entry) : inlineRange(text, entry, among)))
  return cut(text, [...blocksOf(text, sections), ...lines])
}

function inlineRange(text: string, entry: LayoutEntry, among: readonly LayoutEntry[]): Range {
  const index = among.indexOf(entry)
  const next = among[index + 1]
  if (next !== undefined) return { start: entry.start, end: next.start }
  const before = among[index - 1]
  return {
    start: before === undefined ? entry.start : before.valueEnd,
    end: before === undefined ? skipComma(text, entry.valueEnd) : entry.valueEnd,
  }
}

function skipComma(text: string, from: number): number {
  return text[from] === ',' ? from + 1 : from
}

function entriesUnder(
  entries: readonly LayoutEntry[],
  path: Path,
  inlineMembers?: readonly LayoutEntry[],
): { readonly entry: LayoutEntry; readonly among: readonly LayoutEntry[] | undefined }[] {
  return entries.flatMap((entry) => {
    if (isUnder(entry.path, path)) return [{ entry, among: inlineMembers }]
    return isUnder(path, entry.path) ? entriesUnder(entry.members, path, entry.members) : []
  })
}

function findEntry(layout: readonly LayoutSection[], path: Path): LayoutEntry | undefined {
  const search = (entries: readonly LayoutEntry[]): LayoutEntry | undefined => {
    for (const entry of entries) {
      if (isSame(entry.path, path)) return entry
      const inner = isUnder(path, entry.path) ? search(entry.members) : undefined
      if (inner !== undefined) return inner
    }
    return undefined
  }
  for (const section of layout) {
    const found = section.ofArray ? undefined : search(section.entries)
    if (found !== undefined) return found
  }
  return undefined
}

function isWritten(layout: readonly LayoutSection[], path: Path): boolean {
  return layout.some(
    (section) =>
      (section.path.length > 0 && isUnder(section.path, path)) || entriesUnder(section.entries, path).length > 0,
  )
}

/** The innermost inline table that is, or holds, the table `path`. */
function enclosingInline(layout: readonly LayoutSection[], path: Path): LayoutEntry | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const entry = findEntry(layout, path.slice(0, length))
    if (entry?.kind === 'inline table') return entry
  }
  return undefined
}

function lastDotted(layout: readonly LayoutSection[], table: Path) {
  for (const section of layout) {
    if (section.ofArray) continue
    const entry = section.entries.findLast(({ path }) => path.length > table.length && isUnder(path, table))
    if (entry !== undefined && table.length > section.path.length) return { section, entry }
  }
  return undefined
}

function insertInline(text: string, table: LayoutEntry, key: Path, value: Raw): string {
  const last = table.members.at(-1)
  const written = writeEntry(key, value)
  if (last === undefined) return replaceRange(text, table.valueStart, table.valueEnd, `{ ${written} }`)
  return replaceRange(text, last.valueEnd, last.valueEnd, `, ${written}`)
}

function appendTable(text: string, path: Path, table: { readonly [member: string]: Raw }): string {
  const end = lineEnd(text)
  const body = text === '' || text.endsWith('\n') ? text : text + end
  const gap = body.trim() === '' ? '' : end
  return body + gap + writeTable(path, table).replaceAll('\n', end)
}
