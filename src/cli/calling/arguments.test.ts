import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../protocol/index.js'
import { UsageError } from '../usage.js'
import { argumentsFrom } from './arguments.js'

const schema: JsonObject = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'What to say' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    loud: { type: 'boolean' },
    colour: { enum: ['red', 'green', 3, null] },
    tags: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { $ref: '#/$defs/size' } },
    place: { type: 'object' },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    either: { type: ['number', 'string'] },
    free: {},
    loop: { $ref: '#/$defs/loop' },
    limit: { type: 'integer', default: 10 },
  },
  required: ['text', 'limit'],
  $defs: { size: { type: 'integer' }, loop: { $ref: '#/$defs/loop' } },
  additionalProperties: false,
}
const read = (...pairs: string[]) => argumentsFrom(['text=x', ...pairs], schema).value
const fault = (...pairs: string[]): string => {
  try {
    read(...pairs)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
  throw new Error('accepted')
}

describe('key=value', () => {
  it.each([
    ['count=5', { count: 5 }],
    ['ratio=2.5e3', { ratio: 2500 }],
    ['loud=true', { loud: true }],
    ['colour=red', { colour: 'red' }],
    ['colour=3', { colour: 3 }],
    ['colour=null', { colour: null }],
    ['tags=a', { tags: ['a'] }],
    ['tags=["a","b"]', { tags: ['a', 'b'] }],
    ['sizes=4', { sizes: [4] }],
    ['place={"x":1}', { place: { x: 1 } }],
    ['maybe=null', { maybe: null }],
    ['maybe=7', { maybe: 7 }],
    ['either=7', { either: 7 }],
    ['either=007', { either: '007' }],
    ['free=7', { free: 7 }],
    ['free=[1]', { free: [1] }],
    ['free=7 apples', { free: '7 apples' }],
    ['free=12345678901234567890', { free: '12345678901234567890' }],
    ['loop=x', { loop: 'x' }],
    ['free:="7"', { free: '7' }],
    ['count=-0', { count: -0 }],
  ])('types %s by the schema', (pair, expected) => {
    expect(read(pair)).toEqual({ text: 'x', ...expected })
  })

  it('keeps text as it is, equals signs and JSON included', () => {
    expect(argumentsFrom(['text={"a":1}=b'], schema).value).toEqual({ text: '{"a":1}=b' })
  })

  it('makes a list of a repeated key', () => {
    expect(read('sizes=1', 'sizes=2', 'tags=a', 'tags=["b","c"]')).toMatchObject({
      sizes: [1, 2],
      tags: ['a', 'b', 'c'],
    })
    expect(fault('count=1', 'count=2')).toContain('given twice')
  })

  it('names the argument and what it takes when the value is of another type', () => {
    expect(fault('count=many')).toBe("argument 'count' must be an integer, got 'many'")
    expect(fault('count=1.5')).toContain('an integer')
    expect(fault('count=12345678901234567890')).toContain('an integer')
    expect(fault('place=[]')).toContain('a JSON object')
    expect(fault('colour=gren')).toContain("one of red, green, 3, null; got 'gren'. Did you mean 'green'?")
    expect(fault('free:={')).toContain('not JSON')
    expect(fault('alone')).toContain('expected key=value')
  })

  it('refuses an argument that the schema excludes, with the closest name', () => {
    expect(fault('cuont=1')).toBe("the tool has no argument 'cuont'. Did you mean 'count'?")
    expect(fault('zzzzzz=1')).toContain('it takes text, count')
  })

  it('passes an argument that an open schema does not name, and says so', () => {
    const open = { type: 'object', properties: { message: { type: 'string' } } }
    const { value, notes } = argumentsFrom(['messege=hi'], open)
    expect(value).toEqual({ messege: 'hi' })
    expect(notes).toEqual(["the tool's schema names no argument 'messege'. Did you mean 'message'?"])
  })

  it('names every required argument that is missing, but none with a default', () => {
    expect(() => argumentsFrom([], schema)).toThrow("missing required argument 'text' (string: What to say)")
    const two = { required: ['a', 'b'], properties: { a: { type: 'integer' } } }
    expect(() => argumentsFrom([], two)).toThrow("missing required arguments 'a' (integer), 'b'")
  })

  it('overlays what --input gave', () => {
    expect(argumentsFrom(['count=2'], schema, { text: 'from input', count: 1 }).value).toEqual({
      text: 'from input',
      count: 2,
    })
  })

  it('takes names of the prototype as plain names', () => {
    const { value } = argumentsFrom(['__proto__=1', 'constructor=2'], {})
    expect(JSON.stringify(value)).toBe('{"__proto__":1,"constructor":2}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it('sends text whole for whatever schema and text, or refuses by name', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (odd, text) => {
        try {
          const properties = { key: odd as JsonObject }
          expect(argumentsFrom([`key=${text}`], { properties }).value).toHaveProperty('key')
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError)
        }
      }),
    )
  })
})
