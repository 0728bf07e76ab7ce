import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { Reeve, ReeveError, type Thread, type ThreadEvent } from '../../src/reeve.js'
import { type Executor, startExecutor } from '../clients/differential/executors.js'
import { makeWorld, type World } from '../clients/differential/world.js'
import { buildCli } from '../e2e/built-cli.js'
import { type CuttingProxy, cuttingProxy } from '../fixtures/executor/cutting-proxy.js'

const IDS = ['enva', 'envb', 'envc']
const SEEDS = [1, 2, 3, 4]
const OPERATIONS = 200
/** Calls under way, without those to places that are shut. */
const AT_ONCE = 8
/** For so many operations nobody gets to a place that is shut. */
const SHUT_FOR = 5
const URI = 'note://shared/one'

const Called = z.object({ content: z.tuple([z.object({ text: z.string() })]) })
const Read = z.object({ contents: z.tuple([z.object({ text: z.string() })]) })

const uses = ['call', 'call of a step', 'read'] as const
const blows = ['cut', 'kill', 'shut out'] as const
const operation = fc.record({
  does: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...uses) },
    { weight: 1, arbitrary: fc.constantFrom(...blows) },
  ),
  id: fc.constantFrom(...IDS),
})

/** An executor with a proxy before it; both sides of it can fail. */
interface Place {
  readonly executor: Executor
  readonly proxy: CuttingProxy
  shutFor: number
}

describe('three executors that are killed, cut off and shut out', () => {
  beforeAll(buildCli, 300_000)

  it.each(SEEDS)('leave no call without an answer, and none with that of another place (seed %i)', async (seed) => {
    await using places = await threePlaces()
    const urls = Object.fromEntries([...places.byId].map(([id, { proxy }]) => [id, proxy.url]))
    await using world = await makeWorld(
      {
        environments: IDS,
        plugins: IDS.map((id) => ({ root: `of ${id}`, environment: id, servers: { notes: ['--pids', '../pids'] } })),
        shared: {},
      },
      urls,
    )
    const outcomes = new Map<string, number>()
    const count = (outcome: string) => {
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    {
      await using used = await useOf(world)
      const [operations = []] = fc.sample(fc.array(operation, { minLength: OPERATIONS, maxLength: OPERATIONS }), {
        seed,
        numRuns: 1,
      })
      const all: Promise<void>[] = []
      const open = new Map<Promise<void>, Place>()
      for (const { does, id } of operations) {
        for (const place of places.byId.values()) if (place.shutFor > 0) letInLater(place)
        const place = places.of(id)
        if (isBlow(does)) {
          await strike(does, place)
          continue
        }
        const one = outcomeOf(used.thread, does, id).then(count)
        all.push(one)
        open.set(one, place)
        // What it fails with is told by `all`.
        one.catch(() => {}).finally(() => open.delete(one))
        const moving = [...open].filter(([, { shutFor }]) => shutFor === 0).map(([call]) => call)
        if (moving.length >= AT_ONCE) await Promise.race(moving)
        else await setImmediate()
      }
      for (const { proxy } of places.byId.values()) proxy.let(true)
      await Promise.all(all)
      const asked = operations.filter(({ does }) => !isBlow(does)).length
      expect([...outcomes.values()].reduce((sum, times) => sum + times, 0)).toBe(asked)
      expect([...outcomes.keys()]).not.toContain('timeout')
      expect(outcomes.get('answered')).toBeGreaterThan(0)

      for (const id of IDS) await used.comesBack(id)
    }
    await places[Symbol.asyncDispose]()
    const pids = (await readFile(world.place('pids'), 'utf8')).trim().split('\n').map(Number)
    expect(pids.length).toBeGreaterThanOrEqual(IDS.length)
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 20_000, interval: 100 })
  })
})

async function threePlaces(): Promise<
  AsyncDisposable & { readonly byId: ReadonlyMap<string, Place>; of(id: string): Place }
> {
  const byId = new Map<string, Place>()
  for (const id of IDS) {
    const executor = await startExecutor('reeve executor')
    byId.set(id, { executor, proxy: await cuttingProxy(executor.url), shutFor: 0 })
  }
  let disposed: Promise<void> | undefined
  const dispose = async () => {
    await Promise.all([...byId.values()].map(({ proxy }) => proxy[Symbol.asyncDispose]()))
    await Promise.all([...byId.values()].map(({ executor }) => executor[Symbol.asyncDispose]()))
  }
  return {
    byId,
    of(id) {
      const place = byId.get(id)
      if (place === undefined) throw new Error(`no place '${id}'`)
      return place
    },
    [Symbol.asyncDispose]() {
      disposed ??= dispose()
      return disposed
    },
  }
}

/** A thread in all places, and how to wait until one of them is well. */
async function useOf(
  world: World,
): Promise<AsyncDisposable & { readonly thread: Thread; comesBack(id: string): Promise<void> }> {
  const home = world.place('reeve-home')
  await mkdir(home)
  await writeFile(join(home, 'environments.toml'), world.environments)
  const reeve = await Reeve.open({
    home,
    configFiles: [],
    cwd: world.folder,
    env: { ...world.env, HOME: home },
    features: { multi_environment_mcp: true },
  })
  let told = 0
  const listeners = new Set<() => void>()
  const onEvent = (_event: ThreadEvent) => {
    told += 1
    for (const listener of listeners) listener()
  }
  const thread = await reeve.startThread({
    environments: IDS.map((id) => ({ id, cwd: world.place(id) })),
    capabilityRoots: world.roots,
    onEvent,
  })
  const toldSince = (before: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (told === before) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
    })
  return {
    thread,
    async comesBack(id) {
      for (;;) {
        const before = told
        if ((await outcomeOf(thread, 'call', id)) === 'answered') return
        await toldSince(before)
      }
    },
    [Symbol.asyncDispose]: () => reeve.close(),
  }
}

type Use = (typeof uses)[number]
type Blow = (typeof blows)[number]

function isBlow(does: Use | Blow): does is Blow {
  return blows.some((blow) => blow === does)
}

async function strike(blow: Blow, place: Place): Promise<void> {
  switch (blow) {
    case 'cut':
      return place.proxy.cut()
    case 'kill':
      await place.executor.kill()
      return place.executor.restart()
    case 'shut out':
      if (place.shutFor > 0) return
      place.shutFor = SHUT_FOR
      place.proxy.let(false)
      place.proxy.cut()
  }
}

function letInLater(place: Place): void {
  place.shutFor -= 1
  if (place.shutFor === 0) place.proxy.let(true)
}

/** `answered` by the right place, `not offered`, or the code of a typed error; anything else is a failure of the test. */
async function outcomeOf(thread: Thread, use: Use, id: string): Promise<string> {
  try {
    const answer = await carryOut(thread, use, id)
    if (answer === undefined) return 'not offered'
    expect(answer).toBe(use === 'read' ? `${URI} of ${id}` : JSON.stringify({ place: id }))
    return 'answered'
  } catch (error) {
    if (error instanceof ReeveError) return error.code
    throw error
  }
}

async function carryOut(thread: Thread, use: Use, id: string): Promise<string | undefined> {
  const notes = { server: 'notes', environment: id }
  switch (use) {
    case 'call':
      return Called.parse(await thread.callTool({ ...notes, tool: 'whoami' })).content[0].text
    case 'read':
      return Read.parse(await thread.resources.read({ ...notes, uri: URI })).contents[0].text
    case 'call of a step': {
      const step = await thread.step()
      const namespace = step.namespaces.find(({ key }) => key.environment === id)?.name
      if (namespace === undefined) return undefined
      return Called.parse(await step.call({ namespace, name: 'whoami', arguments: {} })).content[0].text
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}
