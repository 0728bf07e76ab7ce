import { describe, expect, it } from 'vitest'
import { tool } from '../../test/fixtures/connections/harness.js'
import { serverKey } from '../identity/index.js'
import type { JsonValue } from '../protocol/index.js'
import { wellFormedItems, wellFormedTools } from './well-formed.js'

const KEY = serverKey('s')

function check(...items: JsonValue[]) {
  const { items: kept, warnings } = wellFormedTools(items, KEY)
  return { names: kept.map((item) => item.name), warnings: warnings.map((warning) => warning.message) }
}

function nested(levels: number): JsonValue {
  let value: JsonValue = {}
  for (let level = 0; level < levels; level += 1) value = { properties: value }
  return value
}

describe('the tools of a server', () => {
  it.each<[string, JsonValue, string]>([
    ['no object', 'tool', 'tool number 2 is no object; left out'],
    ['a list', [], 'tool number 2 is no object; left out'],
    ['null', null, 'tool number 2 is no object; left out'],
    ['no name', { inputSchema: {} }, 'tool number 2 has no name; left out'],
    ['an empty name', tool(''), 'tool number 2 has no name; left out'],
    ['a name that is no text', { name: 7, inputSchema: {} }, 'tool number 2 has a name that is no text; left out'],
    ['no schema', { name: 'b' }, "tool 'b' (number 2) has an input schema that is no object; left out"],
    [
      'a schema in a list',
      { name: 'b', inputSchema: [] },
      "tool 'b' (number 2) has an input schema that is no object; left out",
    ],
    [
      'a schema of true',
      { name: 'b', inputSchema: true },
      "tool 'b' (number 2) has an input schema that is no object; left out",
    ],
    [
      'an output schema that is text',
      tool('b', { outputSchema: 'x' }),
      "tool 'b' (number 2) has an output schema that is no object; left out",
    ],
    [
      'the name of another',
      tool('a', { second: true }),
      "tool 'a' (number 2) has the name of an earlier tool; left out",
    ],
    [
      'a schema without a bottom',
      { name: 'b', inputSchema: nested(100_000) },
      "tool 'b' (number 2) is nested deeper than 256 levels; left out",
    ],
  ])('with %s between two good ones hides neither, and is named', (_what, item, message) => {
    expect(check(tool('a'), item, tool('z'))).toEqual({ names: ['a', 'z'], warnings: [`MCP server 's': ${message}`] })
  })

  it('keeps the first of two with one name', () => {
    const { items } = wellFormedTools([tool('a', { first: true }), tool('a')], KEY)
    expect(items).toEqual([tool('a', { first: true })])
  })

  it('keeps a name of 300 characters, and names it', () => {
    const name = 'n'.repeat(300)
    expect(check(tool(name))).toEqual({
      names: [name],
      warnings: [`MCP server 's': tool '${'n'.repeat(60)}…' has a name of 300 characters, more than 128`],
    })
  })

  it.each(['__proto__', 'constructor', 'toString', 'a b', 'ä', '👍'])('takes the name %s as any other', (name) => {
    expect(check(tool(name), tool('a'))).toEqual({ names: [name, 'a'], warnings: [] })
  })

  it.each<[string, JsonValue]>([
    ['200 kB', { type: 'object', description: 'x'.repeat(200_000) }],
    [
      'a recursive reference',
      { $ref: '#/$defs/node', $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } } },
    ],
    ['nothing', {}],
    ['200 levels', nested(200)],
  ])('may have a schema of %s', (_what, inputSchema) => {
    expect(check({ name: 'a', inputSchema })).toEqual({ names: ['a'], warnings: [] })
  })
})

describe('other items of a server', () => {
  it('are kept as they are when they are objects at all', () => {
    const { items, warnings } = wellFormedItems([{ uri: 1 }, 'x', { odd: true }, { a: nested(1000) }], KEY, 'resources')
    expect(items).toEqual([{ uri: 1 }, { odd: true }])
    expect(warnings.map((warning) => warning.message)).toEqual([
      "MCP server 's': resources number 2 is no object; left out",
      "MCP server 's': resources number 4 is nested deeper than 256 levels; left out",
    ])
  })
})
