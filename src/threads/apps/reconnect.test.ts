import { expect, it } from 'vitest'
import { AppsReconnect } from './reconnect.js'

it('tries again after longer and longer, one attempt at a time, until it is up', () => {
  const delays: number[] = []
  let due: (() => void) | undefined
  let attempts = 0
  const after = (ms: number, run: () => void) => {
    delays.push(ms)
    due = run
    const cancel = () => {
      due = undefined
    }
    return { cancel }
  }
  const reconnect = new AppsReconnect({ now: () => 0, after }, () => {
    attempts += 1
  })
  for (let failure = 0; failure < 8; failure += 1) {
    reconnect.failed()
    reconnect.failed()
    expect(reconnect.isAway).toBe(true)
    due?.()
  }
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  expect(attempts).toBe(8)
  reconnect.failed()
  reconnect.reset()
  expect([reconnect.isAway, due]).toEqual([false, undefined])
  reconnect.failed()
  expect(delays.at(-1)).toBe(1000)
  reconnect.close()
  reconnect.failed()
  expect(due).toBeUndefined()
})
