import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildCli } from '../../e2e/built-cli.js'
import { resumedActors } from './analytics.js'
import { commandLine } from './command-line.js'
import { longConnection } from './long-connection.js'
import type { Scene } from './scene.js'
import { uploads } from './uploads.js'

/** Everything that is left behind goes to `left` in it, what must not be found there to `secrets.json` beside it. */
const GIVEN = process.env.REEVE_AUTH_DEMONSTRATION
const SCENES = { longConnection, resumedActors, uploads, commandLine } as const

let folder: string
const done = new Map<string, Scene>()
beforeAll(async () => {
  await buildCli()
  folder = GIVEN ?? (await mkdtemp(join(tmpdir(), 'reeve-demonstration-')))
  await mkdir(join(folder, 'left'), { recursive: true })
}, 300_000)
afterAll(async () => {
  if (GIVEN === undefined) return rm(folder, { recursive: true, force: true })
  const scenes = [...done].map(([name, { rows }]) => [name, rows])
  await writeFile(join(folder, 'scenes.json'), JSON.stringify(Object.fromEntries(scenes)))
  const secrets = [...done.values()].flatMap((scene) => scene.secrets)
  await writeFile(join(folder, 'secrets.json'), JSON.stringify([...new Set(secrets)]))
})

it.each(Object.entries(SCENES))('shows %s', async (name, play) => {
  const left = join(folder, 'left')
  const scene = await play(left)
  done.set(name, scene)
  await writeFile(join(left, `${name}-errors.txt`), scene.told.join('\n'))
  expect(scene.rows.length).toBeGreaterThan(1)
})
