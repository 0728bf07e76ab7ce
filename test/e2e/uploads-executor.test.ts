import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { environmentToml } from '../fixtures/threads/thread-world.js'
import { takeUpload, uploadsIn } from '../standins/backend-files.js'
import { type BackendRuntime, startBackendRuntime } from '../standins/backend-runtime.js'

const TAKER = new URL('../fixtures/threads/file-taker.mjs', import.meta.url).pathname

let there: string
let executor: WebSocketExecutor
beforeEach(async () => {
  there = mkdtempSync(join(tmpdir(), 'reeve-there-'))
  mkdirSync(join(there, 'open'))
  mkdirSync(join(there, 'secret'))
  writeFileSync(join(there, 'open', 'a.txt'), 'on the executor')
  writeFileSync(join(there, 'secret', 'b.txt'), 'not to be had')
  symlinkSync(join(there, 'secret'), join(there, 'open', 'way'))
  const env = { PATH: process.env.PATH ?? '', HOME: there }
  const authentication = { kind: 'none' } as const
  executor = await serveExecutorWebSocket({ host: '127.0.0.1', port: 0, authentication, env, cwd: there })
})
afterEach(async () => {
  await executor[Symbol.asyncDispose]()
  rmSync(there, { recursive: true, force: true, maxRetries: 5 })
})

async function takerThere(world: BackendRuntime, permissions: object | undefined) {
  writeFileSync(join(world.home, 'environments.toml'), environmentToml(['devbox', executor.url]))
  await world.reeve.reload()
  const profile = permissions === undefined ? {} : { permissions: JSON.parse(JSON.stringify(permissions)) }
  return world.thread({
    only: [{ server: 'taker' }],
    environments: [{ id: 'devbox', cwd: join(there, 'open'), ...profile }],
    fileParameters: [{ server: 'taker' }],
  })
}

const CONFIG = `[mcp_servers.taker]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(TAKER)}]
environment_id = "devbox"
cwd = "/"`

it('is a file of the executor that the server runs on, under the profile that holds there', async () => {
  await using world = await startBackendRuntime({ mode: 'assertion_only', config: CONFIG })
  const entries = [{ path: { type: 'special', value: { kind: 'project_roots' } }, access: 'read' }]
  const thread = await takerThere(world, {
    type: 'managed',
    network: 'enabled',
    file_system: { type: 'restricted', entries },
  })
  takeUpload(world.backend.model)
  const take = (file: string) => thread.callTool({ server: 'taker', tool: 'take', arguments: { file } })
  const { content } = await take('a.txt')
  expect(JSON.stringify(content)).toContain('https://api.openai.com/download/file-1')
  expect(uploadsIn(world.backend.model)[1]?.body).toBe('on the executor')
  for (const path of [join(there, 'secret', 'b.txt'), 'way/b.txt', '../secret/b.txt', join(world.home, 'config.toml')])
    await expect(take(path), path).rejects.toMatchObject({ code: 'file_denied' })
  await expect(take('missing')).rejects.toMatchObject({ code: 'file_unreadable' })
  await expect(take(there)).rejects.toMatchObject({ code: 'file_denied' })
  expect(uploadsIn(world.backend.model)).toHaveLength(3)
  expect(world.backend.model.violations).toEqual([])
})

it('is not had any more once the executor is gone, and nothing of the call is sent', async () => {
  await using world = await startBackendRuntime({ config: CONFIG })
  const thread = await takerThere(world, undefined)
  const take = () => thread.callTool({ server: 'taker', tool: 'take', arguments: { file: 'a.txt' } })
  takeUpload(world.backend.model)
  await take()
  await executor[Symbol.asyncDispose]()
  await expect(take()).rejects.toMatchObject({ name: expect.stringMatching(/Error$/) })
  expect(uploadsIn(world.backend.model)).toHaveLength(3)
})
