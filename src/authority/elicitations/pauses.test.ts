import { expect, it } from 'vitest'
import { ActiveClock } from '../../protocol/index.js'
import { OutOfBandPauses } from './pauses.js'

it('stops the clock from the first to the last question that a host asks by itself', () => {
  const clock = new ActiveClock()
  const pauses = new OutOfBandPauses(clock)
  expect(pauses.increment()).toEqual({ count: 1, paused: true })
  expect(pauses.increment()).toEqual({ count: 2, paused: true })
  expect(pauses.decrement()).toEqual({ count: 1, paused: true })
  expect(clock.paused).toBe(true)
  expect(pauses.decrement()).toEqual({ count: 0, paused: false })
  expect(clock.paused).toBe(false)
  expect(() => pauses.decrement()).toThrow(
    expect.objectContaining({ rpcCode: -32600, message: 'out-of-band elicitation count is already zero' }),
  )
  expect(clock.paused).toBe(false)
})
