import fc from 'fast-check'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { isTable, type Path, type Raw } from './raw.js'
import { parseToml } from './toml.js'

const at = (text: string, ...path: string[]) => {
  const position = parseToml('f', text).position(path)
  return position && `${position.line}:${position.column}`
}

describe('positions in TOML', () => {
  it.each<[string, string[], string]>([
    ['a = 1\nb = 2\n', ['b'], '2:1'],
    ['# c\n\n  [a.b] # x\nc = 1', ['a', 'b'], '3:3'],
    ['[a.b]\nc = 1', ['a', 'b', 'c'], '2:1'],
    ['[a.b]\nc = 1', ['a', 'b', 'zzz'], '1:1'],
    ['[a."x.y"]\n"k k" = 1', ['a', 'x.y', 'k k'], '2:1'],
    ["[a.'x']\n'k' = 1", ['a', 'x', 'k'], '2:1'],
    ['[a]\n"\\u0062" = 1', ['a', 'b'], '2:1'],
    ['a = { b = 1, c = { d = 2 } }', ['a', 'c', 'd'], '1:20'],
    ['a = [ 1,\n  2 ]', ['a', '1'], '2:3'],
    ['[[h]]\nx = 1\n[[h]]\nx = 2\n[h.y]\nz = 3', ['h', '1', 'y', 'z'], '6:1'],
    ['[a.b.c]\n[a]\nx = 1', ['a'], '2:1'],
    ['a.b = 1\na.c = 2', ['a'], '1:1'],
    ['a = """\n[x]\nb = 1"""\nb = 2', ['b'], '4:1'],
    ["a = '''x''''\nb = 2", ['b'], '2:1'],
    ['a = "]#" # [c]\n[c]\nd = 1', ['c'], '2:1'],
    ['a = 1979-05-27T07:32:00Z # x\r\nb = 2', ['b'], '2:1'],
  ])('%j %j is at %s', (text, path, expected) => {
    expect(at(text, ...path)).toBe(expected)
  })

  it('of every member of any document are where its key is written', () => {
    fc.assert(
      fc.property(anyTable(3), (table) => {
        const text = writeTable([], table)
        const document = parseToml('f', text)
        expect(JSON.parse(JSON.stringify(parse(text)))).toEqual(table)
        const lines = text.split('\n')
        for (const path of pathsOf(document.root)) {
          const position = document.position(path)
          if (position === undefined) throw new Error(`no position of ${path.join('.')}`)
          const rest = lines[position.line - 1]?.slice(position.column - 1) ?? ''
          expect(rest).toContain(JSON.stringify(path.at(-1)))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('are found in a string of many megabytes, and after it', () => {
    expect(
      at(`a = "${'\\n'.repeat(3_000_000)}"\nb = """${'"'.repeat(2)}${'x\n'.repeat(1_000_000)}"""\nc = 1`, 'c'),
    ).toBe('1000003:1')
  })
})

type Table = { [name: string]: string | Table }

/** Names with everything that quoting must bear; never a digit first, so that order is the writer's. */
function anyTable(depth: number): fc.Arbitrary<Table> {
  const name = fc.stringMatching(/^[a-z"'\\.#[\]= é]{1,5}$/)
  const value = depth === 0 ? fc.string() : fc.oneof(fc.string(), anyTable(depth - 1))
  return fc.dictionary(name, value, { maxKeys: 4 }).map((table) => ({ ...table }))
}

/** Half of the tables inline, half as sections, so that both are looked at. */
function writeTable(path: string[], table: Table): string {
  const entries = Object.entries(table)
  const own = entries.filter(([name, value]) => typeof value === 'string' || name.length % 2 === 0)
  const below = entries.filter((entry) => !own.includes(entry))
  const header = path.length === 0 ? '' : `[ ${path.map((part) => JSON.stringify(part)).join(' . ')} ] # [x]\n`
  const lines = own.map(([name, value]) => `${JSON.stringify(name)}=${inline(value)} # ${'"'}\n`).join('')
  return header + lines + below.map(([name, value]) => writeTable([...path, name], value as Table)).join('\n')
}

function inline(value: string | Table): string {
  if (typeof value === 'string') return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
  return `{ ${Object.entries(value)
    .map(([name, item]) => `${JSON.stringify(name)} = ${inline(item)}`)
    .join(', ')} }`
}

function pathsOf(value: Raw, path: Path = []): Path[] {
  if (!isTable(value)) return [path]
  const below = Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...path, name]))
  return path.length === 0 ? below : [path, ...below]
}
