import { describe, expect, it } from 'vitest'
import { type Column, columnsOf, tableLines } from './table.js'

interface Row {
  readonly name: string
  readonly tools?: number
  readonly note: string
}
const columns: Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'TOOLS', value: ({ tools }) => tools?.toString(), align: 'right' },
  { title: 'NOTE', value: ({ note }) => note },
]

describe('a table', () => {
  it('aligns what is written in any script, and shows what is absent as a dash', () => {
    const rows = [
      { name: 'notes', tools: 7, note: 'fine' },
      { name: '日本', note: 'two\nlines' },
      { name: 'a-long-name', tools: 1024, note: '' },
    ]
    expect(tableLines(rows, columns)).toEqual([
      'NAME         TOOLS  NOTE',
      'notes            7  fine',
      '日本             -  two lines',
      'a-long-name   1024  -',
    ])
  })

  it('cuts the last column to the width of the terminal, never inside a character', () => {
    const rows = [{ name: 'x', tools: 1, note: '日本語のとても長い説明' }]
    const [, line] = tableLines(rows, columns, { width: 24 })
    expect(line).toBe('x         1  日本語のと…')
    expect(columnsOf(line ?? '')).toBeLessThanOrEqual(24)
  })

  it('paints cells without moving the columns', () => {
    const painted = tableLines(
      [{ name: 'x', note: 'y' }],
      [{ ...columns[0], paint: (text) => `<${text}>` } as Column<Row>, ...columns.slice(1)],
    )
    expect(painted[1]).toBe('<x>         -  y')
  })

  it('shows hostile cells without their control characters', () => {
    expect(tableLines([{ name: 'x\u001b[2J', note: '' }], columns)[1]).toContain('x\\x1b[2J')
  })
})
