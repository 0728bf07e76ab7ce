import { describe, expect, it } from 'vitest'
import { insufficientScope } from './www-authenticate.js'

describe('a scope challenge', () => {
  it.each([
    ['quoted values', ['Bearer error="insufficient_scope", scope="a b"'], { scope: 'a b' }],
    ['token values', ['Bearer error=insufficient_scope, scope=files.read'], { scope: 'files.read' }],
    ['any order', ['Bearer scope="a", realm="x", error="insufficient_scope"'], { scope: 'a' }],
    ['any case of scheme and names', ['bEaReR ERROR="insufficient_scope", Scope="a"'], { scope: 'a' }],
    ['spaces round the equals sign', ['Bearer error = "insufficient_scope" , scope\t=\t"a"'], { scope: 'a' }],
    ['semicolons between parameters', ['Bearer error="insufficient_scope"; scope="a"'], { scope: 'a' }],
    ['no scope', ['Bearer error="insufficient_scope"'], {}],
    ['separators inside quotes', ['Bearer realm="a, b; c=d", error="insufficient_scope"'], {}],
    ['escapes inside quotes', ['Bearer realm="a\\"b, error=x", error="insufficient\\_scope"'], {}],
    ['an escaped value', ['Bearer error="insufficient_scope", scope="\\a\\b"'], { scope: 'ab' }],
    ['behind another challenge of one field', ['Basic realm="x", Bearer error="insufficient_scope"'], {}],
    ['behind another challenge with a token68', ['Negotiate abc==, Bearer error="insufficient_scope"'], {}],
    ['in a later field', ['Basic realm="x"', 'Bearer error="insufficient_scope", scope="s"'], { scope: 's' }],
    ['behind a field with an open quote', ['Bearer realm="x', 'Bearer error="insufficient_scope"'], {}],
    ['a second Bearer challenge', ['Bearer error="invalid_token", Bearer error="insufficient_scope"'], {}],
    ['empty segments', [',, Bearer error="insufficient_scope",,; scope="s",'], { scope: 's' }],
    ['a scheme on its own, then parameters', ['Bearer, error="insufficient_scope"'], {}],
  ])('is read with %s', (_what, fields, expected) => {
    expect(insufficientScope(fields)).toEqual(expected)
  })

  it.each([
    ['no field', []],
    ['an empty field', ['']],
    ['another error', ['Bearer error="invalid_token", scope="a"']],
    ['another case of the error', ['Bearer error="Insufficient_Scope"']],
    ['the error of another scheme', ['DPoP error="insufficient_scope"']],
    ['an error before any scheme', ['error="insufficient_scope"']],
    ['an error that is given twice', ['Bearer error="insufficient_scope", error="insufficient_scope"']],
    ['a malformed value', ['Bearer error="insufficient_scope" x']],
    ['an unterminated quote', ['Bearer error="insufficient_scope", scope="a']],
    ['parameters behind a new scheme', ['Bearer realm="x", Basic error="insufficient_scope"']],
    ['parameters behind something that is no scheme', ['Bearer realm="x", (odd), error="insufficient_scope"']],
  ])('is not seen in %s', (_what, fields) => {
    expect(insufficientScope(fields)).toBeUndefined()
  })

  it.each([
    ['two spaces', 'a  b'],
    ['a space at the end', 'a '],
    ['nothing', ''],
    ['a backslash', 'a\\\\b'],
    ['a quote', 'a\\"b'],
    ['a character beyond ASCII', 'ä'],
  ])('keeps no scope that holds %s', (_what, scope) => {
    expect(insufficientScope([`Bearer error="insufficient_scope", scope="${scope}"`])).toEqual({})
  })

  it('keeps no scope that is given twice', () => {
    expect(insufficientScope(['Bearer error="insufficient_scope", scope="a", scope="b"'])).toEqual({})
  })
})
