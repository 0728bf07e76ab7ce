import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, isRunning } from '../fixtures/stdio/running.js'
import { startProgram } from './program.js'

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-program-'))
  const outfile = join(folder, 'owner.mjs')
  await build({ entryPoints: [beside('program-owner.ts')], outfile, bundle: true, platform: 'node', format: 'esm' })
  await copyFile(beside('group-reaper.mjs'), join(folder, 'group-reaper.mjs'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it.each(['SIGTERM', 'SIGKILL'] as const)('ends with the process that started it, which gets a %s', async (signal) => {
  await using owner = startProgram(
    { command: process.execPath, args: [join(folder, 'owner.mjs')] },
    { env: { PATH: process.env.PATH ?? '' }, cwd: folder },
  )
  const [line] = (await once(owner.child.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  expect(isRunning(pid)).toBe(true)
  process.kill(owner.child.pid ?? 0, signal)
  await owner.exited
  await eventually(() => expect(isRunning(pid)).toBe(false))
})
