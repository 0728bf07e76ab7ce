import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { takeUpload } from '../../standins/backend-files.js'
import { HUB, startBackendRuntime } from '../../standins/backend-runtime.js'
import { assertionOf, headersOf, nameOf, type Scene } from './scene.js'

/** A file in the arguments of a call: each request of it, in both modes. */
export async function uploads(homesIn: string): Promise<Scene> {
  const scenes = [await upload('dual_header', homesIn), await upload('assertion_only', homesIn)]
  return {
    rows: scenes.flatMap(({ rows }) => rows),
    secrets: scenes.flatMap(({ secrets }) => secrets),
    told: scenes.flatMap(({ told }) => told),
  }
}

async function upload(mode: 'dual_header' | 'assertion_only', homesIn: string): Promise<Scene> {
  await using world = await startBackendRuntime({ mode, homesIn })
  const { model } = world.backend
  const file = join(world.home, 'a.txt')
  writeFileSync(file, 'abc')
  takeUpload(model)
  const thread = await world.thread({ fileParameters: [HUB] })
  await thread.callTool({ ...HUB, tool: 'take', arguments: { file } })
  const requests = model.requests.filter(
    ({ path, body }) => /files|storage/.test(path) || body.includes('"tools/call"'),
  )
  expect(requests).toHaveLength(4)
  const [, stored] = requests
  expect(stored && headersOf(stored)).toBe('x-ms-blob-type, x-ms-client-request-id, accept')
  const ids = requests.flatMap(({ assertion }) => assertion ?? [])
  expect(new Set(ids).size).toBe(3)
  expect(model.violations).toEqual([])
  const rows = requests.map((request) => [mode, nameOf(request), assertionOf(request)[0], headersOf(request)])
  return { rows, secrets: [...model.secrets, 'secret-of-storage'], told: [] }
}
