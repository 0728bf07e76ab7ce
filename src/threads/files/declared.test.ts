import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { fileParameters } from './declared.js'
import { FILE_GUIDANCE, maskedTool } from './mask-schema.js'

function tool(names: JsonValue, properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { name: 't', inputSchema: { type: 'object', properties, ...more }, _meta: { 'openai/fileParams': names } }
}
const acceptedBy = (schema: JsonObject, more?: JsonObject) =>
  fileParameters(tool(['f'], { f: schema }, more))[0]?.accepts

describe('arguments that take files', () => {
  it('are those that the tool names; what is no name is ignored', () => {
    const named = fileParameters(tool(['a', 5, '', null, 'a', '__proto__'], { a: { type: 'string' } }))
    expect(named.map(({ name }) => name)).toEqual(['a', '__proto__'])
    for (const none of [undefined, 'a', {}, null]) {
      const definition = {
        name: 't',
        inputSchema: {},
        _meta: { ...(none !== undefined && { 'openai/fileParams': none }) },
      }
      expect(fileParameters(definition)).toEqual([])
    }
  })

  it('take the optional fields that their schema has room for', () => {
    const both = ['mime_type', 'file_name']
    for (const [schema, accepted] of [
      [{ type: 'object' }, both],
      [{ properties: { file_name: {} }, additionalProperties: false }, ['file_name']],
      [{ type: 'object', additionalProperties: { type: 'string' } }, []],
      [{ additionalProperties: true }, both],
      [{ type: 'string' }, []],
      [{ type: 'array', items: { type: 'object' } }, both],
      [{ anyOf: [{ type: 'string' }, { properties: { mime_type: {} }, additionalProperties: false }] }, ['mime_type']],
      [{ $ref: '#/$defs/File~1s' }, ['mime_type']],
      [{ $ref: '#/properties/f' }, []],
      [{ $ref: 'https://example.test/file' }, []],
    ] as const satisfies readonly (readonly [JsonObject, readonly string[]])[]) {
      const $defs = { 'File/s': { type: 'object', properties: { mime_type: {} }, additionalProperties: false } }
      expect(acceptedBy(schema, { $defs }), JSON.stringify(schema)).toEqual(accepted)
    }
  })

  it('are shown as paths, with what the tool said of them, once', () => {
    const definition = tool(['one', 'many', 'gone'], {
      one: { type: 'object', description: 'The file.', properties: {} },
      many: { items: {} },
      rest: { type: 'number' },
    })
    const shown = maskedTool(definition)
    expect(shown).toMatchObject({
      inputSchema: {
        type: 'object',
        properties: {
          one: { description: `The file. ${FILE_GUIDANCE}`, type: 'string' },
          many: { description: FILE_GUIDANCE, type: 'array', items: { type: 'string' } },
          rest: { type: 'number' },
        },
      },
    })
    expect(maskedTool(shown)).toEqual({ ...shown, inputSchema: expect.objectContaining({}) })
    expect(JSON.stringify(maskedTool(shown)).split(FILE_GUIDANCE)).toHaveLength(3)
    expect(definition.inputSchema).toMatchObject({ properties: { one: { type: 'object' } } })
  })

  it('are found, or not, in whatever a server sends', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, names) => {
        const definition = {
          name: 't',
          inputSchema: schema as JsonValue,
          _meta: { 'openai/fileParams': names as JsonValue },
        }
        for (const { accepts } of fileParameters(definition)) expect(accepts.length).toBeLessThanOrEqual(2)
        expect(maskedTool(definition)).toMatchObject({ name: 't' })
      }),
    )
  })
})
