import fc from 'fast-check'
import { expect, it } from 'vitest'
import { WiredWorld } from '../standins/backend-wired.js'
import { runWired, wiredSteps } from '../standins/backend-wired-run.js'

/** Ten thousand take some minutes. */
const RUNS = Number(process.env.REEVE_AUTH_INTERLEAVINGS ?? 60)
const SEED = process.env.REEVE_AUTH_SEED
/** A world lives as long as connections of days do: through many interleavings. */
const RUNS_OF_A_WORLD = 100

it('lets nothing out that is not in force, whatever logins, refreshes and calls do at once', {
  timeout: 3_600_000,
}, async () => {
  const totals = new Map<string, number>()
  const count = (what: string, times: number) => totals.set(what, (totals.get(what) ?? 0) + times)
  let world = await WiredWorld.open()
  let runs = 0
  const seed = SEED === undefined ? Date.now() % 2 ** 31 : Number(SEED)
  try {
    await fc.assert(
      fc.asyncProperty(wiredSteps, async (plan) => {
        if (++runs % RUNS_OF_A_WORLD === 0) {
          await world[Symbol.asyncDispose]()
          world = await WiredWorld.open()
        }
        const { faults, sent, changes } = await runWired(world, plan)
        expect(faults).toEqual([])
        count('changes of a credential', changes)
        for (const [what, times] of Object.entries(sent)) count(what, times)
      }),
      { numRuns: RUNS, seed },
    )
  } finally {
    await world[Symbol.asyncDispose]()
  }
  console.log(JSON.stringify({ interleavings: runs, seed, ...Object.fromEntries([...totals].sort()) }))
  expect(totals.get('tools/call')).toBeGreaterThan(RUNS * 6)
})
