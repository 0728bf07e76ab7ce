import { oneLine } from './printable.js'

export interface Column<Row> {
  readonly title: string
  /** The cell's text; undefined or empty shows `-`. */
  readonly value: (row: Row) => string | undefined
  /** Paints the cell after it was laid out. */
  readonly paint?: (text: string, row: Row) => string
  readonly align?: 'left' | 'right'
}

const GAP = '  '

/**
 * Lines of an aligned table, the titles first. With a `width` the last column is cut to fit the terminal; without one
 * nothing is cut. Cells are made safe for a terminal.
 */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, title = (text) => text }: { readonly width?: number; readonly title?: (text: string) => string } = {},
): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.value(row) ?? '') || '-'))
  const widths = columns.map((column, index) =>
    cells.reduce((most, line) => Math.max(most, columnsOf(line[index] ?? '')), columnsOf(column.title)),
  )
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0)
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(width - before, 10)
  const layOut = (texts: readonly string[], paint: (text: string, index: number) => string): string =>
    texts
      .map((text, index) => {
        const last = index === texts.length - 1
        const shown = last ? cut(text, room) : text
        const space = ' '.repeat(Math.max((widths[index] ?? 0) - columnsOf(shown), 0))
        if (columns[index]?.align === 'right')
          return (last && room < columnsOf(text) ? '' : space) + paint(shown, index)
        return last ? paint(shown, index) : paint(shown, index) + space
      })
      .join(GAP)
  return [
    layOut(
      columns.map((column) => column.title),
      (text) => title(text),
    ),
    ...cells.map((line, at) =>
      layOut(line, (text, index) => {
        const row = rows[at]
        const paint = columns[index]?.paint
        return paint === undefined || row === undefined ? text : paint(text, row)
      }),
    ),
  ]
}

function cut(text: string, room: number): string {
  if (columnsOf(text) <= room) return text
  let taken = ''
  let used = 0
  for (const character of text) {
    const next = columnsOf(character)
    if (used + next > room - 1) break
    taken += character
    used += next
  }
  return `${taken}…`
}

/** Terminal columns: East Asian wide characters and emoji take two, combining marks none. */
export function columnsOf(text: string): number {
  if (NARROW.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return columns
}

/** Most cells: no need to look at each character. */
const NARROW = /^[\x20-\x7e]*$/
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]$/u
