import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ResourceFunctionError } from '../../errors.js'
import { listArguments, readArguments } from './arguments.js'

describe('arguments of the resource functions', () => {
  it('are the text that the model wrote, or parsed already', () => {
    expect(listArguments('{"server":"notes","cursor":"c"}', true)).toEqual({ server: 'notes', cursor: 'c' })
    expect(listArguments({ server: 'notes' }, true)).toEqual({ server: 'notes' })
    for (const none of [undefined, null, '', ' \n\u0085', 'null', '{}']) expect(listArguments(none, true)).toEqual({})
  })

  it('are trimmed of all white space, and absent when blank', () => {
    const padded = { server: '\u00a0\u2003notes\u0085\t', cursor: '  ', environment_id: '\u3000' }
    expect(listArguments(padded, true)).toEqual({ server: 'notes' })
    expect(listArguments({ server: '\ufeffnotes' }, true)).toEqual({ server: '\ufeffnotes' })
  })

  it('of a kind that is no text are refused, the first as given; unknown ones are ignored', () => {
    const told = [
      [{ cursor: true, server: 5 }, 'invalid type: boolean `true`, expected a string'],
      [{ server: 5, cursor: true }, 'invalid type: number, expected a string'],
      [{ server: [] }, 'invalid type: sequence, expected a string'],
      [{ environment_id: {} }, 'invalid type: map, expected a string'],
      [[], 'invalid type: sequence, expected struct ListResourceArgs'],
      ['"x"', 'invalid type: string "x", expected struct ListResourceArgs'],
    ] as const
    for (const [args, text] of told) {
      expect(() => listArguments(structuredClone(args) as never, true)).toThrow(
        `failed to parse function arguments: ${text}`,
      )
    }
    expect(() => readArguments('5', true)).toThrow('invalid type: number, expected struct ReadResourceArgs')
    expect(listArguments({ uri: 5, other: [], environment_id: 5 }, false)).toEqual({})
    expect(() => readArguments({ server: null, uri: 'x' }, true)).toThrow('invalid type: null, expected a string')
    expect(readArguments({ server: 's', uri: 'x', cursor: 5 }, true)).toEqual({ server: 's', uri: 'x' })
  })

  it('that are no JSON are refused with the reason', () => {
    expect(() => listArguments('{server:1}', true)).toThrowError(
      expect.objectContaining({
        code: 'invalid_arguments',
        message: expect.stringMatching(/^failed to parse function arguments: ./),
      }),
    )
  })

  it('of a read must all be there', () => {
    for (const [args, text] of [
      [undefined, 'expected value'],
      ['{}', 'missing field `server`'],
      ['{"server":""}', 'missing field `uri`'],
      ['{"server":" ","uri":" "}', 'server must be provided'],
      ['{"server":"s","uri":" "}', 'uri must be provided'],
    ] as const) {
      expect(() => readArguments(args, true)).toThrow(text)
    }
  })

  it('never name what stands on the prototype of an object', () => {
    expect(listArguments('{"__proto__":{"server":"hidden"}}', true)).toEqual({})
  })

  it('whatever they are, are taken or refused by name', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.string(), fc.json()), fc.boolean(), (args, multiEnvironment) => {
        for (const parse of [listArguments, readArguments]) {
          try {
            const taken = parse(args as never, multiEnvironment)
            for (const value of Object.values(taken)) expect(value).not.toBe('')
          } catch (error) {
            expect(error).toBeInstanceOf(ResourceFunctionError)
          }
        }
      }),
    )
  })
})
