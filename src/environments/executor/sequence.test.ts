import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replayed } from './events.js'
import { EventSequence, type ProcessEvent } from './sequence.js'

const output = (seq: number): ProcessEvent => ({
  kind: 'output',
  seq,
  stream: 'stdout',
  bytes: Buffer.from([seq % 256]),
})
const read = (seqs: readonly number[], more: Record<string, unknown>) => ({
  chunks: seqs.map((seq) => ({ seq, stream: 'stdout', chunk: 'eA==' })),
  exited: false,
  exitCode: null,
  closed: false,
  ...more,
})
const kinds = (events: readonly ProcessEvent[]) => events.map(({ kind, seq }) => `${seq} ${kind}`)

describe('a sequence', () => {
  it('delivers every event once and in order, however they come and come again', () => {
    const arrivals = fc.integer({ min: 1, max: 200 }).chain((count) => {
      const all = Array.from({ length: count }, (_, n) => n + 1)
      return fc.tuple(
        fc.constant(all),
        fc.shuffledSubarray(all, { minLength: count }),
        fc.array(fc.constantFrom(...all)),
      )
    })
    fc.assert(
      fc.property(arrivals, ([all, shuffled, again]) => {
        const sequence = new EventSequence('x')
        const order = shuffled.flatMap((seq, n) => (again[n] === undefined ? [seq] : [seq, again[n]]))
        expect(order.flatMap((seq) => sequence.accept(output(seq))).map(({ seq }) => seq)).toEqual(all)
        expect(sequence.hasGap).toBe(false)
      }),
    )
  })

  it('counts what is missing', () => {
    const sequence = new EventSequence('x')
    for (const seq of [1, 2, 5, 6]) sequence.accept(output(seq))
    expect(sequence.missing(8)).toEqual({ count: 4, first: 3 })
    expect(sequence.missing(2)).toEqual({ count: 0, first: 3 })
  })
})

describe('a replay', () => {
  it.each([
    [
      'an exit in the middle of output',
      [1, 3],
      { nextSeq: 5, exited: true, exitCode: 4, closed: true },
      ['1 output', '2 exited', '3 output', '4 closed'],
    ],
    ['nothing at all', [], { nextSeq: 1 }, []],
    ['an exit alone', [], { nextSeq: 2, exited: true, exitCode: 0 }, ['1 exited']],
    ['output that goes on', [1, 2], { nextSeq: 3 }, ['1 output', '2 output']],
  ])('works out %s', (_what, seqs, more, expected) => {
    expect(kinds(replayed(read(seqs, more), new EventSequence('x'), 'x'))).toEqual(expected)
  })

  it.each([
    ['output was dropped', [3], { nextSeq: 4 }],
    ['output was dropped beside an exit', [3], { nextSeq: 5, exited: true, exitCode: 0 }],
    ['output was dropped before the close', [2], { nextSeq: 5, exited: true, exitCode: 0, closed: true }],
    ['the next number is beyond all reason', [], { nextSeq: 2 ** 52 }],
  ])('fails when %s', (_what, seqs, more) => {
    expect(() => replayed(read(seqs, more), new EventSequence('x'), 'x')).toThrow(/dropped/)
  })

  it('does not take one lost piece for the exit when the exit has come', () => {
    const sequence = new EventSequence('x')
    sequence.accept({ kind: 'exited', seq: 3, code: 0 })
    const answer = read([1], { nextSeq: 4, exited: true, exitCode: 0 })
    expect(() => replayed(answer, sequence, 'x')).toThrow(/dropped/)
  })

  it.each([{}, { chunks: 7 }, read([1], { nextSeq: -1 }), read([1], { nextSeq: 2, closed: 'no' })])(
    'refuses %j',
    (answer) => {
      expect(() => replayed(answer, new EventSequence('x'), 'x')).toThrow(
        expect.objectContaining({ code: 'protocol_violation' }),
      )
    },
  )
})
