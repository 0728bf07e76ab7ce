import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startBackend } from '../../test/standins/backend.js'
import { Interleaving, steps } from '../../test/standins/backend-interleaving.js'

const RUNS = 1000

describe('random interleavings of all that changes a credential, and calls', () => {
  it('never let out what is not in force', { timeout: 300_000 }, async () => {
    let calls = 0
    await fc.assert(
      fc.asyncProperty(steps(30), async (steps) => {
        const { faults, calls: made } = await Interleaving.run(steps)
        calls += made
        expect(faults).toEqual([])
      }),
      { numRuns: RUNS },
    )
    expect(calls).toBeGreaterThan(RUNS)
  })

  it('do not either over real sockets', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps(20), async (steps) => {
        await using backend = await startBackend()
        const { faults } = await Interleaving.run(steps, { http: backend.http, model: backend.model })
        expect(faults).toEqual([])
      }),
      { numRuns: 30 },
    )
  })
})
