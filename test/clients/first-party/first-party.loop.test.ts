import { beforeAll, describe, expect, it } from 'vitest'
import { DIFFERENCES, differenceOf, differencesAt } from './differences.js'
import { reeveSide } from './reeve-side.js'
import { answersOf, codexAnswers, SCENARIOS } from './scenarios.js'
import type { Answers, Json } from './shapes.js'
import { MODES } from './side.js'

/*
 * Codex and Reeve on the same backend, with the same account, server and mode, do the same. What they send is compared; what
 * differs must stand in `differences.json`, as it is, and what stands there must differ.
 */
describe.each(SCENARIOS)('$name', (scenario) => {
  describe.each(MODES)('%s', (mode) => {
    let codex: Answers
    let reeve: Answers
    let violations: readonly string[]
    beforeAll(async () => {
      codex = await codexAnswers(scenario, mode)
      const ours = await answersOf(scenario, mode, reeveSide)
      reeve = ours.answers
      violations = ours.violations
    }, 60_000)

    it('is the same on the wire, but for what is listed', () => {
      const questions = [...new Set([...Object.keys(codex), ...Object.keys(reeve)])]
      const found = questions.flatMap((question) => {
        const difference = differenceOf(codex[question] ?? null, reeve[question] ?? null)
        return difference === null ? [] : [{ question, ...difference }]
      })
      const listed = differencesAt(scenario.name, mode).map(({ question, codex, ours }) => ({ question, codex, ours }))
      expect(byQuestion(found)).toEqual(byQuestion(listed))
    })

    it('shows the backend nothing that no honest client does', () => {
      expect(violations).toEqual([])
    })

    it('compares something', () => {
      expect(Object.keys(codex).length).toBeGreaterThan(2)
      expect(codex.sessions).not.toEqual([])
      expect(reeve['every assertion is another']).toBe(true)
    })
  })
})

describe('the table of differences', () => {
  it.each(DIFFERENCES.map((entry) => [`${entry.scenario}: ${entry.question}`, entry] as const))(
    'names a scenario, and each question once in a mode: %s',
    (_title, { scenario, question, modes }) => {
      expect(SCENARIOS.map(({ name }) => name)).toContain(scenario)
      for (const mode of modes)
        expect(differencesAt(scenario, mode).filter((one) => one.question === question)).toHaveLength(1)
    },
  )
})

function byQuestion<T extends { readonly question: string; readonly codex: Json; readonly ours: Json }>(
  all: readonly T[],
) {
  return all.toSorted((a, b) => a.question.localeCompare(b.question))
}
