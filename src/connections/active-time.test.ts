import { expect, it } from 'vitest'
import { ActiveTime } from './active-time.js'

it('does not count the time of questions, however they nest', () => {
  let now = 0
  const active = new ActiveTime(() => now)
  const passing = (ms: number) => {
    now += ms
    return active.now()
  }
  expect(passing(10)).toBe(10)
  active.pause()
  expect(passing(100)).toBe(10)
  active.pause()
  expect(passing(100)).toBe(10)
  active.resume()
  expect(passing(100)).toBe(10)
  active.resume()
  expect(passing(5)).toBe(15)
})
