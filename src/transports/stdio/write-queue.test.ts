import { describe, expect, it } from 'vitest'
import { WriteQueue } from './write-queue.js'

class TurnedAway extends Error {}

/** A queue whose writes a test lets through, turns away or breaks, in order. */
function queue() {
  const written: string[] = []
  const outcomes: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  const faults: string[] = []
  const writes = new WriteQueue({
    write: (text) => {
      written.push(text)
      return new Promise((resolve, reject) => outcomes.push({ resolve, reject }))
    },
    isTurnedAway: (error): error is Error => error instanceof TurnedAway,
    lost: (sent) => new Error(`lost, ${sent ? 'perhaps sent' : 'not sent'}`),
    onfault: () => {
      faults.push('fault')
      writes.end()
    },
  })
  const push = (text: string, isPatient = false) =>
    writes
      .push(text, undefined, () => {}, isPatient)
      .then(
        () => 'written',
        (error: Error) => error.message,
      )
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return { writes, written, outcomes, faults, push, turn }
}

describe('a write that is turned away', () => {
  it('costs its request and those that waited behind it, and not the queue', async () => {
    const { written, outcomes, faults, push, turn } = queue()
    const [first, second] = [push('first'), push('second')]
    outcomes[0]?.reject(new TurnedAway('try again soon'))
    expect([await first, await second]).toEqual(['try again soon', 'try again soon'])
    const third = push('third')
    await turn()
    outcomes[1]?.resolve()
    expect(await third).toBe('written')
    expect([written, faults]).toEqual([['first', 'third'], []])
  })

  it('is made again for what nobody could ask for anew, in order', async () => {
    const { written, outcomes, push, turn } = queue()
    const [answer, request, notice] = [push('answer', true), push('request'), push('notice', true)]
    outcomes[0]?.reject(new TurnedAway('try again soon'))
    expect(await request).toBe('try again soon')
    await turn()
    outcomes[1]?.resolve()
    expect([await answer, await notice]).toEqual(['written', 'written'])
    expect(written).toEqual(['answer', 'answernotice'])
  })

  it('ends the queue when the fault is for good', async () => {
    const { outcomes, faults, push } = queue()
    const [first, second] = [push('first', true), push('second')]
    outcomes[0]?.reject(new Error('broken pipe'))
    expect([await first, await second]).toEqual(['lost, perhaps sent', 'lost, not sent'])
    expect(faults).toEqual(['fault'])
  })
})
