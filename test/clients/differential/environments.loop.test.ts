import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildCli } from '../../e2e/built-cli.js'
import { DIFFERENCES, differenceAt } from './differences.js'
import { EXECUTORS, type Executor, type ExecutorKind, startExecutor } from './executors.js'
import { type Answers, runScenario } from './run-scenario.js'
import { titlesOf } from './scenario.js'
import { SCENARIOS } from './scenarios/index.js'

const KINDS: readonly ExecutorKind[] = ['codex exec-server', 'reeve executor']

/*
 * Codex and Reeve with the same two executors under them, in the same worlds, are asked the same. What differs must stand in
 * `differences.json`, as it is, and what stands there must differ.
 */
describe.each(KINDS)('on two of %s', (kind) => {
  const executors = new Map<string, Executor>()
  beforeAll(async () => {
    if (EXECUTORS[kind].built) await buildCli()
    for (const id of ['enva', 'envb']) executors.set(id, await startExecutor(kind))
  }, 300_000)
  afterAll(() => Promise.all([...executors.values()].map((executor) => executor[Symbol.asyncDispose]())))

  describe.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))('%s', (_name, scenario) => {
    let answers: ReadonlyMap<string, Answers>
    beforeAll(async () => {
      answers = await runScenario(scenario, executors)
    }, 120_000)

    it.each(titlesOf(scenario))('%s', (title) => {
      const given = answers.get(title)
      if (given === undefined) throw new Error('nobody was asked')
      const listed = differenceAt(scenario.name, title)
      if (listed === undefined) return expect(given.reeve).toEqual(given.codex)
      expect(given).toEqual({ codex: listed.codex, reeve: listed.ours })
    })
  })
})

describe('the table of differences', () => {
  const entries = DIFFERENCES.map((entry) => [`${entry.scenario}: ${entry.question}`, entry] as const)

  it.each(entries)('names a question that is asked, once: %s', (_title, { scenario, question }) => {
    const asked = SCENARIOS.filter(({ name }) => name === scenario).flatMap(titlesOf)
    expect(asked).toContain(question)
    expect(DIFFERENCES.filter((one) => one.scenario === scenario && one.question === question)).toHaveLength(1)
  })

  it.each(entries)('differs: %s', (_title, { codex, ours }) => {
    expect(ours).not.toEqual(codex)
  })
})
