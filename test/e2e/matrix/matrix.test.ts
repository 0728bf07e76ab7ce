import { afterAll, describe, expect, it } from 'vitest'
import { exists } from './cell.js'
import { COMBINATIONS, type Combination, titleOf } from './combinations.js'
import { FEATURES } from './features/index.js'
import { refusalOf } from './refusals.js'
import { CellSessions } from './session-of-cells.js'

/** How long what may never come is waited for, where it must come and where it must not. */
const EXPECTED_MS = 15_000
const REFUSED_MS = 1000

const sessions = new CellSessions()
afterAll(() => sessions[Symbol.asyncDispose]())

const rowsOf = (combination: Combination) =>
  FEATURES.filter((feature) => exists(feature, combination)).map((feature) => {
    const refusal = refusalOf(combination, feature.name)
    const title = refusal === undefined ? feature.name : `${feature.name}, refused`
    return [title, { feature, refusal }] as const
  })

describe.each(COMBINATIONS.map((combination) => [titleOf(combination), combination] as const))(
  '%s',
  (_title, combination) => {
    it.each(rowsOf(combination))('%s', async (_row, { feature, refusal }) => {
      const run = sessions.run(combination, refusal ? REFUSED_MS : EXPECTED_MS, (cell) => feature.check(cell))
      if (refusal === undefined) return run
      const failure = await run.then(
        () => new Error(`listed as refused, but works: take it out of the refusals (${refusal.reason})`),
        (error: unknown) => error,
      )
      expect(failure).toMatchObject({
        ...(refusal.answer.code !== undefined && { code: refusal.answer.code }),
        message: expect.stringMatching(refusal.answer.message ?? /./),
      })
    })
  },
)

it('went through all of it without a fault of the gateway', async () => {
  expect(await sessions.warnings()).toEqual([])
})
