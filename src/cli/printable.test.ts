import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oneLine, printable } from './printable.js'

const ESC = '\u001b'

describe('printable', () => {
  it('writes control characters out, so that a server cannot drive the terminal', () => {
    expect(printable(`a${ESC}]0;title\u0007b\rc\u009b2Jd`)).toBe('a\\x1b]0;title\\x07b\\x0dc\\x9b2Jd')
    expect(printable('abc\u202edcba\u2066x')).toBe('abc\\u202edcba\\u2066x')
  })

  it('leaves line breaks, tabs and every script alone', () => {
    const text = 'täglich\t日本語 👩‍👩‍👧\nزبان'
    expect(printable(text)).toBe(text)
  })

  it('keeps one line one line, and is done after one pass', () => {
    expect(oneLine(' a\r\n\tb\u2028c ')).toBe('a b c')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(oneLine(text)).not.toMatch(/[\r\n\t]/)
        expect(printable(printable(text))).toBe(printable(text))
      }),
    )
  })
})
