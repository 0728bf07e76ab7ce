import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Interleaving, steps } from '../standins/backend-interleaving.js'

it('lets nothing out that is not in force, in ten thousand interleavings', async () => {
  let calls = 0
  await fc.assert(
    fc.asyncProperty(steps(40), async (all) => {
      const { faults, calls: made } = await Interleaving.run(all)
      calls += made
      expect(faults).toEqual([])
    }),
    { numRuns: 10_000 },
  )
  expect(calls).toBeGreaterThan(10_000)
})
