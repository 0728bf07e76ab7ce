import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LimitExceededError } from '../errors.js'
import { LineSplitter, utf8Text } from './lines.js'

function splitter(limit: number, tooLong: 'refuse' | 'cut' = 'refuse') {
  const lines: string[] = []
  const onLine = (line: Buffer) => lines.push(line.toString('latin1'))
  return { lines, splitter: new LineSplitter({ limit, onLine, tooLong, what: 'a line of the test' }) }
}

/** Pushes the bytes in pieces of the given sizes, the rest at once. */
function pushInPieces(target: LineSplitter, bytes: Buffer, sizes: readonly number[]): void {
  let at = 0
  for (const size of sizes) {
    target.push(bytes.subarray(at, at + size))
    at += size
  }
  target.push(bytes.subarray(at))
}

const stream = fc
  .array(fc.oneof(fc.constantFrom('\n', '\r', '\r\n', 'é', '漢', '{"a":1}'), fc.string({ maxLength: 40 })), {
    maxLength: 60,
  })
  .map((parts) => Buffer.from(parts.join('')))
const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 200 })

describe('LineSplitter', () => {
  it('finds the same lines as splitting the whole text, however it is chunked', () => {
    fc.assert(
      fc.property(stream, sizes, (bytes, pieces) => {
        const { lines, splitter: target } = splitter(1 << 20)
        pushInPieces(target, bytes, pieces)
        target.end()
        const whole = bytes.toString('latin1').split('\n')
        if (whole.at(-1) === '') whole.pop()
        expect(lines).toEqual(whole.map((line) => line.replace(/\r$/, '')))
      }),
      { numRuns: 500 },
    )
  })

  it('refuses exactly the streams that hold a line over the limit, and delivers the lines before it', () => {
    fc.assert(
      fc.property(stream, sizes, fc.integer({ min: 1, max: 50 }), (bytes, pieces, limit) => {
        const { lines, splitter: target } = splitter(limit)
        const whole = bytes.toString('latin1').split('\n')
        if (whole.at(-1) === '') whole.pop()
        const stripped = whole.map((line) => line.replace(/\r$/, ''))
        const first = stripped.findIndex((line) => line.length > limit)
        const run = () => {
          pushInPieces(target, bytes, pieces)
          target.end()
        }
        if (first === -1) run()
        else expect(run).toThrow(LimitExceededError)
        expect(lines).toEqual(first === -1 ? stripped : stripped.slice(0, first))
      }),
      { numRuns: 500 },
    )
  })

  it('loses no byte when it cuts', () => {
    fc.assert(
      fc.property(stream, sizes, fc.integer({ min: 1, max: 50 }), (bytes, pieces, limit) => {
        const { lines, splitter: target } = splitter(limit, 'cut')
        pushInPieces(target, bytes, pieces)
        target.end()
        const without = (text: string) => text.replaceAll(/[\r\n]/g, '')
        expect(without(lines.join(''))).toBe(without(bytes.toString('latin1')))
        expect(Math.max(0, ...lines.map((line) => line.length))).toBeLessThanOrEqual(limit)
      }),
      { numRuns: 500 },
    )
  })

  it('accepts a line of exactly the limit, with LF or CRLF, also when CR and LF come apart', () => {
    for (const terminator of ['\n', '\r\n']) {
      const { lines, splitter: target } = splitter(4)
      for (const byte of `abcd${terminator}x`) target.push(Buffer.from(byte))
      expect(lines).toEqual(['abcd'])
    }
  })

  it('names what was too long and the limit, once, then stays silent', () => {
    const { lines, splitter: target } = splitter(4)
    expect(() => target.push(Buffer.from('ok\nabcde'))).toThrow('a line of the test exceeds the limit of 4')
    target.push(Buffer.from('more\nand more\n'))
    target.end()
    expect(lines).toEqual(['ok'])
  })

  it('refuses before the line is complete', () => {
    const { splitter: target } = splitter(1024)
    target.push(Buffer.alloc(1024, 'x'))
    expect(() => target.push(Buffer.from('x'))).toThrow(LimitExceededError)
  })

  it('hands out lines that later chunks do not overwrite', () => {
    const kept: Buffer[] = []
    const target = new LineSplitter({
      limit: 100,
      onLine: (line) => kept.push(line),
      tooLong: 'refuse',
      what: 'a line',
    })
    for (const piece of ['fir', 'st\nsec', 'ond\nthird', '\n']) target.push(Buffer.from(piece))
    expect(kept.map(String)).toEqual(['first', 'second', 'third'])
  })
})

describe('utf8Text', () => {
  it('joins characters that were cut at chunk borders', () => {
    const texts: (string | undefined)[] = []
    const onLine = (line: Buffer) => texts.push(utf8Text(line))
    const target = new LineSplitter({ limit: 100, onLine, tooLong: 'refuse', what: 'a line' })
    for (const byte of Buffer.from('é漢😀\n')) target.push(Buffer.of(byte))
    expect(texts).toEqual(['é漢😀'])
  })

  it('refuses bytes that are not UTF-8 rather than replace them', () => {
    expect(utf8Text(Buffer.of(0x22, 0xff, 0x22))).toBeUndefined()
    expect(utf8Text(Buffer.of(0xed, 0xa0, 0x80))).toBeUndefined()
  })

  it('keeps a replacement character that the sender wrote', () => {
    expect(utf8Text(Buffer.from('"\ufffd"'))).toBe('"\ufffd"')
  })

  it('drops a byte order mark at the start only', () => {
    expect(utf8Text(Buffer.from('\ufeff{"a":"\ufeff"}'))).toBe('{"a":"\ufeff"}')
  })
})
