import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundled } from '../fixtures/bundled.js'
import { eventually } from '../fixtures/stdio/running.js'
import { deliveriesIn, EVENTS, eventsOf } from '../standins/backend-analytics.js'
import { type BackendRuntime, startBackendRuntime } from '../standins/backend-runtime.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
let folder: string
let driver: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-analytics-driver-'))
  driver = join(folder, 'driver.mjs')
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await bundled('test/e2e/analytics-driver.ts', driver, {
    target: 'node20',
    packages: 'external',
    define: { REEVE_VERSION: '"0.0.0-test"' },
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Another process on the home of the world, once it has made a call of a model in the thread. */
async function called(world: BackendRuntime, thread: string, end: 'queue' | 'deliver'): Promise<ChildProcess> {
  const { home, env, backend } = world
  const args = [driver, home, join(home, 'config.toml'), String(backend.port), thread, end]
  const child = spawn(process.execPath, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const [word] = await once(child.stdout, 'data')
  expect(String(word)).toBe('queued\n')
  return child
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function keptThread(world: BackendRuntime): Promise<string> {
  const thread = await world.thread({ persist: true, only: [] })
  await thread.close()
  return thread.id
}

async function takenUp(world: BackendRuntime, id: string): Promise<void> {
  const auth = world.reeve.auth
  const thread = await world.reeve.resumeThread(id, { ...(auth && { auth }), only: [] })
  await thread.close()
}

it('tells once what was queued when the process was killed', async () => {
  await using world = await startBackendRuntime({ analytics: { enabled: true } })
  const id = await keptThread(world)
  await killed(await called(world, id, 'queue'))
  expect(deliveriesIn(world.backend.model)).toEqual([])
  await takenUp(world, id)
  await takenUp(world, id)
  expect(eventsOf(deliveriesIn(world.backend.model))).toMatchObject([{ account: 'acct-1', params: { thread_id: id } }])
})

it('tells again what nobody knows to have arrived: at least once, and as the same call', async () => {
  await using world = await startBackendRuntime({ analytics: { enabled: true } })
  const { model } = world.backend
  const id = await keptThread(world)
  model.pathReplies.set(EVENTS, [{ status: 200, fault: 'silent' }])
  const child = await called(world, id, 'deliver')
  await eventually(() => expect(deliveriesIn(model)).toHaveLength(1))
  await killed(child)
  await takenUp(world, id)
  const [first, second, ...more] = eventsOf(deliveriesIn(model))
  expect(more).toEqual([])
  expect(second).toEqual(first)
})
