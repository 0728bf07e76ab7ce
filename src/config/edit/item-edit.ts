import { emptyTable, isTable, type Path, type Raw, type RawTable } from '../source/raw.js'
import { blocksOf, cut, endOfSection, insertLine, lineEnd, lineRange, replaceRange } from './text-ranges.js'
import { isSame, isUnder, type LayoutSection, tomlLayout } from './toml-layout.js'
import { writeEntry, writeKey, writeValue } from './toml-write.js'

/** A change of one item of an array of tables, such as `[[environments]]`. */
export type TomlItemEdit =
  | { readonly kind: 'append item'; readonly array: string; readonly value: RawTable }
  | { readonly kind: 'remove item'; readonly array: string; readonly index: number }
  | { readonly kind: 'set in item'; readonly array: string; readonly index: number; readonly member: Member }
  | { readonly kind: 'remove in item'; readonly array: string; readonly index: number; readonly name: string }

interface Member {
  readonly name: string
  readonly value: Raw
}

/**
 * Applies the edit to a valid text, leaving every other character as it is. An array that is written as `[…]` cannot be
 * edited like this: the text then does not say what was asked for.
 */
export function editItem(text: string, edit: TomlItemEdit): string {
  if (edit.kind === 'append item') return appendItem(text, edit.array, edit.value)
  const sections = itemsOf(tomlLayout(text), [edit.array])[edit.index]
  if (sections === undefined) return text
  if (edit.kind === 'remove item') return removeSections(text, sections)
  const path = [edit.array, edit.kind === 'set in item' ? edit.member.name : edit.name]
  if (edit.kind === 'remove in item') return removeMember(text, sections, path)
  return setMember(text, edit, sections, path)
}

/** What the document says once the edit is made. */
export function itemEdited(root: RawTable, edit: TomlItemEdit): RawTable {
  const array = Object.hasOwn(root, edit.array) ? root[edit.array] : undefined
  const items: Raw[] = Array.isArray(array) ? [...array] : []
  if (edit.kind === 'append item') items.push(edit.value)
  else if (edit.kind === 'remove item') items.splice(edit.index, 1)
  else {
    const old = items[edit.index]
    const item: Record<string, Raw> = Object.assign(emptyTable(), isTable(old) ? old : {})
    if (edit.kind === 'set in item') item[edit.member.name] = edit.member.value
    else delete item[edit.name]
    items[edit.index] = item
  }
  const edited: Record<string, Raw> = Object.assign(emptyTable(), root)
  if (items.length === 0) delete edited[edit.array]
  else edited[edit.array] = items
  return edited
}

/** Each item's own section, and those of the tables in it. */
function itemsOf(layout: readonly LayoutSection[], array: Path): readonly (readonly LayoutSection[])[] {
  const items: LayoutSection[][] = []
  for (const section of layout) {
    if (section.ofArray && isSame(section.path, array)) items.push([section])
    else if (section.headerEnd > 0 && isUnder(section.path, array)) items.at(-1)?.push(section)
  }
  return items
}

function appendItem(text: string, array: string, value: RawTable): string {
  const end = lineEnd(text)
  const body = text === '' || text.endsWith('\n') ? text : text + end
  const gap = body.trim() === '' ? '' : end
  const lines = Object.entries(value).map(([name, member]) => writeEntry([name], member))
  return body + gap + [`[[${writeKey([array])}]]`, ...lines, ''].join(end)
}

function setMember(
  text: string,
  edit: Extract<TomlItemEdit, { kind: 'set in item' }>,
  sections: readonly LayoutSection[],
  path: Path,
): string {
  const { name, value } = edit.member
  const [head] = sections
  const entry = head?.entries.find((one) => isSame(one.path, path))
  if (entry !== undefined) return replaceRange(text, entry.valueStart, entry.valueEnd, writeValue(value))
  const without = removeMember(text, sections, path)
  const [now] = itemsOf(tomlLayout(without), [edit.array])[edit.index] ?? []
  return now === undefined ? text : insertLine(without, endOfSection(now), writeEntry([name], value))
}

function removeMember(text: string, sections: readonly LayoutSection[], path: Path): string {
  const tables = sections.slice(1).filter((section) => isUnder(section.path, path))
  const lines = sections
    .filter((section) => !tables.includes(section))
    .flatMap(({ entries }) => entries.filter((entry) => isUnder(entry.path, path)))
    .map((entry) => lineRange(text, entry))
  return cut(text, [...blocksOf(text, tables), ...lines])
}

function removeSections(text: string, sections: readonly LayoutSection[]): string {
  return cut(text, blocksOf(text, sections))
}
