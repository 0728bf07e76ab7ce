import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codexSide } from './codex-side.js'
import type { Executor } from './executors.js'
import type { Json, Side } from './questions.js'
import { reeveSide } from './reeve-side.js'
import { type Scenario, stagesOf } from './scenario.js'
import { makeWorld, type Plan, type World } from './world.js'

export interface Answers {
  readonly codex: Json
  readonly reeve: Json
}

/** Asks both sides in the same world, with the same executors under them, and gives the answers by title. */
export async function runScenario(
  scenario: Scenario,
  executors: ReadonlyMap<string, Executor>,
): Promise<ReadonlyMap<string, Answers>> {
  const urls = Object.fromEntries([...executors].map(([id, { url }]) => [id, url]))
  await using world = await makeWorld(scenario.plan, urls)
  await using _configured = await configureExecutors(scenario.plan, executors)
  await using codex = await codexSide(world)
  await using reeve = await reeveSide(world)
  const answers = new Map<string, Answers>()
  for (const { questions, next } of stagesOf(scenario)) {
    const asked = questions.map(({ question }) => question)
    const ask = async (side: Side) => plain(await side.answers(asked), world)
    const [ofCodex, ofReeve] = await Promise.all([ask(codex), ask(reeve)])
    questions.forEach(({ title }, index) => {
      answers.set(title, { codex: ofCodex[index] ?? null, reeve: ofReeve[index] ?? null })
    })
    if (next?.happens === 'edit') await world.write(next.plugin)
    else if (next !== undefined) {
      await executors.get(next.environment)?.[next.happens]()
      if (next.happens !== 'kill') await Promise.all([codex, reeve].map((side) => side.recovered(next.environment)))
    }
  }
  return answers
}

/** Writes what is configured over there, until it is disposed. */
export async function configureExecutors(
  { executorConfig = {} }: Plan,
  executors: ReadonlyMap<string, Executor>,
): Promise<AsyncDisposable> {
  const files = Object.entries(executorConfig).map(([id, text]) => ({
    file: join(executors.get(id)?.home ?? '', 'config.toml'),
    text,
  }))
  await Promise.all(files.map(({ file, text }) => writeFile(file, text)))
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(files.map(({ file }) => rm(file)))
    },
  }
}

/** The same in every run: without the folder of this one. */
function plain(answers: readonly Json[], { folder }: World): readonly Json[] {
  return JSON.parse(JSON.stringify(answers).replaceAll(folder, '<world>'))
}
