import { describe, expect, it } from 'vitest'
import { ProtocolViolationError } from '../../errors.js'
import { parseStrictJson } from './strict-json.js'

describe('parseStrictJson', () => {
  it.each(['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"x":[{"k":1 , "k" :{}}]}', '{"__proto__":1,"__proto__":2}'])(
    'refuses a key twice: %s',
    (text) => {
      expect(() => parseStrictJson(text)).toThrow(ProtocolViolationError)
    },
  )

  it.each([
    '{"a":"a","b":"a"}',
    '[{"a":1},{"a":2}]',
    '{"a":"\\"","b":"x\\\\"}',
    '{"a":["a","a"],"b":{"a":1}}',
    '" : "',
  ])('takes what is unique: %s', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text))
  })

  it('refuses more values than a message may have', () => {
    expect(parseStrictJson(`[${'0,'.repeat(200_000)}0]`)).toHaveLength(200_001)
    expect(() => parseStrictJson(`[${'0,'.repeat(262_144)}0]`)).toThrow(ProtocolViolationError)
  })

  it('walks nesting of any depth', () => {
    const text = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    expect(() => parseStrictJson(text)).not.toThrow()
  })

  it('refuses what is not JSON', () => {
    expect(() => parseStrictJson('{"a":')).toThrow(ProtocolViolationError)
  })
})
