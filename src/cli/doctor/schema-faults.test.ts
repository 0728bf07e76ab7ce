import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { schemaFaults } from './schema-faults.js'

const told = (schema: JsonValue | undefined) => schemaFaults(schema).map(({ code, field }) => `${code} ${field}`.trim())

describe('faults of a schema', () => {
  it('finds none in a plain one, with shared definitions and data that only looks like a reference', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/text' },
        b: { $ref: '#/$defs/text' },
        default: { $ref: '#/$defs/text' },
        c: { default: { $ref: '#/nowhere' }, enum: [{ $ref: '#/nowhere' }] },
      },
      $defs: { text: { type: 'string' } },
    }
    expect(told(schema)).toEqual([])
  })

  it.each([
    [undefined, ['schema_missing']],
    [null, ['schema_not_object']],
    ['object', ['schema_not_object']],
    [[], ['schema_not_object']],
    [{}, ['schema_not_object']],
    [{ type: 'string' }, ['schema_not_object']],
  ])('names %j', (schema, expected) => {
    expect(told(schema)).toEqual(expected)
  })

  it('names a cycle where it closes, through one definition or several', () => {
    const self = { type: 'object', properties: { child: { $ref: '#' } } }
    expect(told(self)).toEqual(['schema_recursive properties.child'])
    const ring: JsonObject = {
      type: 'object',
      properties: { first: { $ref: '#/$defs/a' } },
      $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } },
    }
    expect(told(ring)).toHaveLength(1)
    expect(told(ring)[0]).toContain('schema_recursive')
    expect(told({ type: 'object', $ref: '#' })).toEqual(['schema_recursive'])
  })

  it('names references that lead nowhere', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/gone' },
        b: { $ref: 'https://example.com/x.json' },
        c: { $ref: '#/__proto__' },
      },
    }
    expect(told(schema).sort()).toEqual([
      'schema_ref_unresolved properties.a',
      'schema_ref_unresolved properties.b',
      'schema_ref_unresolved properties.c',
    ])
  })

  it('names the size of a very large one', () => {
    const schema = { type: 'object', description: 'x'.repeat(250_000) }
    expect(schemaFaults(schema)).toMatchObject([{ code: 'schema_large', message: 'is 250 kB long' }])
  })

  it('ends for any JSON, however deep or tangled', () => {
    const deep: JsonObject = { type: 'object' }
    let at = deep
    for (let depth = 0; depth < 5000; depth += 1) {
      const items: JsonObject = { $ref: '#' }
      at.items = items
      at = items
    }
    expect(told(deep).every((fault) => /^schema_(?:recursive|large)/.test(fault))).toBe(true)
    fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(schemaFaults(value as JsonValue))))
  })
})
