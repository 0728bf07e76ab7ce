import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { Reeve, ReeveError, type Step, type ThreadOptions } from '../../src/reeve.js'
import { notes, ThreadWorld } from '../fixtures/threads/thread-world.js'
import { vectorCases } from './cases.js'

const FILE = 'environments.json'

const Selection = z.strictObject({
  kind: z.literal('selection'),
  known: z.array(z.string()),
  params: z.strictObject({
    cwd: z.string(),
    environments: z.array(z.strictObject({ environmentId: z.string(), cwd: z.string() })).optional(),
    selectedCapabilityRoots: z
      .array(
        z.strictObject({
          id: z.string(),
          location: z.strictObject({ type: z.literal('environment'), environmentId: z.string(), path: z.string() }),
        }),
      )
      .optional(),
  }),
})
type Selection = z.infer<typeof Selection>

const Effect = z.strictObject({
  kind: z.literal('selectionEffect'),
  server: z.string(),
  owners: z.array(z.string()),
  turns: z.array(z.array(z.string()).nullable()),
})

const casesOf = (kind: string) => vectorCases(FILE).filter(({ input }) => input.kind === kind)

describe('the environments of a thread', () => {
  for (const { name, input, expected } of casesOf('selection')) {
    it(name, async () => {
      const { params, known } = Selection.parse(input)
      const outcome = await started(params, known)
      const accepted = z.strictObject({ accepted: z.literal(true) }).safeParse(expected).success
      if (accepted) expect(outcome).not.toHaveProperty('error')
      else expect(outcome).toEqual(expected)
    })
  }
})

async function started({ cwd, ...params }: Selection['params'], known: readonly string[]): Promise<unknown> {
  const home = mkdtempSync(join(tmpdir(), 'reeve-selection-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  // Nobody listens there, and nobody is asked.
  writeFileSync(
    join(home, 'environments.toml'),
    known.map((id) => `[[environments]]\nid = "${id}"\nurl = "ws://127.0.0.1:9"\n`).join(''),
  )
  await using reeve = await Reeve.open({ home, cwd, env: {} })
  expect(reeve.problems).toEqual([])
  try {
    await using thread = await reeve.startThread(optionsOf(params))
    return {
      environments: thread.environments.map(({ id, cwd: place, workspaceRoots }) => ({
        environmentId: id,
        cwd: place,
        runtimeWorkspaceRoots: workspaceRoots,
      })),
    }
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return { error: { code: -32600, message: error.message }, errorCode: error.code }
  }
}

function optionsOf({ environments, selectedCapabilityRoots }: Omit<Selection['params'], 'cwd'>): ThreadOptions {
  return {
    ...(environments && { environments: environments.map(({ environmentId, cwd }) => ({ id: environmentId, cwd })) }),
    ...(selectedCapabilityRoots && {
      capabilityRoots: selectedCapabilityRoots.map(({ id, location: { environmentId, path } }) => ({
        id,
        environment: environmentId,
        path,
      })),
    }),
  }
}

describe('a selection that changes from turn to turn', () => {
  for (const { name, input, expected } of casesOf('selectionEffect')) {
    it(name, async () => {
      const { server, owners, turns } = Effect.parse(input)
      await using world = await ThreadWorld.open({
        executors: owners,
        plugins: owners.map((environment) => ({
          id: `root-${environment}`,
          environment,
          servers: { [server]: notes('--as', environment) },
        })),
      })
      await using thread = await world.reeve.startThread({ environments: [], capabilityRoots: world.roots })
      const namespaces: string[][] = []
      const processGeneration = Object.fromEntries(owners.map((owner) => [owner, [] as (number | null)[]]))
      const pids = new Map(owners.map((owner) => [owner, [] as number[]]))
      for (const turn of turns) {
        if (turn !== null) await thread.select(world.select(...turn))
        const step = await thread.step({ wait: 'all' })
        namespaces.push(step.namespaces.map((namespace) => namespace.name))
        for (const owner of owners) {
          const known = pids.get(owner) ?? []
          const pid = await pidOf(step, owner)
          if (pid !== undefined && !known.includes(pid)) known.push(pid)
          processGeneration[owner]?.push(pid === undefined ? null : known.indexOf(pid) + 1)
        }
      }
      expect({ namespaces, processGeneration }).toEqual(expected)
    })
  }
})

/** The process that answers for an environment's server; undefined where none is offered. */
async function pidOf(step: Step, environment: string): Promise<number | undefined> {
  const tool = step.tools.find(({ key, tool: raw }) => key.environment === environment && raw === 'whoami')
  if (tool === undefined) return undefined
  const { content } = await step.call(tool)
  const [{ text }] = z.tuple([z.looseObject({ text: z.string() })]).parse(content)
  const said = z.looseObject({ as: z.string(), pid: z.number() }).parse(JSON.parse(text))
  expect(said.as).toBe(environment)
  return said.pid
}
