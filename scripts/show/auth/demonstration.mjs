// Plays the scenes of the demonstration once, and prints each where it belongs.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanEnvironment, root, run, table } from '../gateway/commands.mjs'
import { keep } from './left.mjs'

const TEST = 'test/heavy/auth-demonstration'
const TITLES = {
  longConnection: ['request', 'account', 'assertion', 'instance', 'what came of it'],
  resumedActors: ['delivery of', 'account', 'events', 'assertion', 'headers'],
  uploads: ['mode', 'request', 'assertion', 'headers'],
  commandLine: ['command', 'ended with', 'characters printed'],
}

export function demonstration(folder) {
  let played
  const scene = (name) => async () => {
    played ??= play(folder)
    const { scenes, problem } = await played
    if (scenes[name] !== undefined) console.log(table([TITLES[name], ...scenes[name]]))
    if (problem !== undefined) throw new Error(problem)
  }
  return Object.fromEntries(Object.keys(TITLES).map((name) => [name, scene(name)]))
}

async function play(folder) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const env = { ...cleanEnvironment(folder), REEVE_AUTH_DEMONSTRATION: folder }
  const { code, stdout, stderr } = await run([process.execPath, vitest, 'run', TEST], { env, minutes: 10 })
  await keep(folder, 'demonstration', stdout + stderr)
  const scenes = JSON.parse(await readFile(join(folder, 'scenes.json'), 'utf8').catch(() => '{}'))
  return { scenes, ...(code !== 0 && { problem: `the scenes ended with ${code}\n${stdout}\n${stderr}` }) }
}
