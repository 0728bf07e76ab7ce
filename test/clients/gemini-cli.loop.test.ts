import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startGeminiModel } from '../standins/gemini.js'
import { type ClientHome, NO_WAY_OUT } from './client-home.js'
import type { GatewayUnderTest } from './gateway-under-test.js'
import { LOOP, SAID } from './loop.js'
import { PEER } from './peers.js'
import { run } from './program.js'
import { it } from './with-gateway.js'

/** The gateway as arguments of `gemini mcp add`. */
const ADD: Readonly<Record<string, (gateway: GatewayUnderTest) => readonly string[]>> = {
  HTTP: ({ url, token }) => ['--transport', 'http', '--header', `Authorization: Bearer ${token}`, 'reeve', url],
  stdio: ({ stdio }) => ['reeve', stdio.command, '--', ...stdio.args],
}

/** Signed in with a key, and quiet about updates and usage. */
const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
}

/** Gemini CLI in `home`, once `gemini mcp add` has put the gateway into its settings. */
async function geminiWith(add: readonly string[], home: ClientHome, modelUrl = 'http://127.0.0.1:9') {
  const program = PEER.gemini()
  const env = { ...home.env, ...NO_WAY_OUT, GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: modelUrl }
  const gemini = async (...args: readonly string[]) => {
    const command = { command: program.command, args: [...program.args, ...args] }
    const finished = await run(command, { env, cwd: home.folder })
    expect(finished, finished.stderr).toMatchObject({ code: 0 })
    return finished
  }
  await mkdir(join(home.folder, '.gemini'))
  await writeFile(join(home.folder, '.gemini', 'settings.json'), JSON.stringify(SETTINGS))
  await gemini('mcp', 'add', '--scope', 'user', ...add)
  return gemini
}

describe.each(Object.entries(ADD))('Gemini CLI over %s', (_, add) => {
  it('connects after `gemini mcp add`', async ({ gateway, home }) => {
    const gemini = await geminiWith(add(gateway), home)
    const { stdout, stderr } = await gemini('mcp', 'list')
    expect(stdout + stderr).toMatch(/reeve: .*Connected/)
  })

  it('runs a whole agent loop', async ({ gateway, home }) => {
    await using model = await startGeminiModel(LOOP)
    const gemini = await geminiWith(add(gateway), home, model.url)
    const { stdout } = await gemini('--yolo', '-m', 'gemini-2.5-flash', '-p', 'Use the echo tool.')
    expect(stdout).toMatch(SAID)
    expect(JSON.stringify(model.requests)).toContain('over here')
  })
})
