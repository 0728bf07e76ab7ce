import { expect, it } from 'vitest'
import { inParallel } from './in-parallel.js'

it('works on some at once and gives the results in order', async () => {
  let [running, most] = [0, 0]
  const results = await inParallel([...Array(40).keys()], async (item) => {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    return item * 2
  })
  expect(results).toEqual([...Array(40).keys()].map((item) => item * 2))
  expect(most).toBe(8)
  expect(await inParallel([], async () => 1)).toEqual([])
})

it('works on the others although one fails, and then raises the first fault', async () => {
  const done: number[] = []
  const working = inParallel([...Array(20).keys()], async (item) => {
    if (item % 7 === 3) throw new Error(`fault ${item}`)
    done.push(item)
  })
  await expect(working).rejects.toThrow('fault 3')
  expect(done).toHaveLength(17)
})
