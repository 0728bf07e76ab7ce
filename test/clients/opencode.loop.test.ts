import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startChatModel } from '../standins/openai-chat.js'
import { type ClientHome, NO_WAY_OUT } from './client-home.js'
import type { GatewayUnderTest } from './gateway-under-test.js'
import { LOOP, SAID } from './loop.js'
import { PEER } from './peers.js'
import { succeed } from './program.js'
import { it } from './with-gateway.js'

/** The gateway as arguments of `opencode mcp add`. */
const ADD: Readonly<Record<string, (gateway: GatewayUnderTest) => readonly string[]>> = {
  HTTP: ({ url, token }) => ['reeve', '--url', url, '--header', `Authorization=Bearer ${token}`],
  stdio: ({ stdio }) => ['reeve', '--', stdio.command, ...stdio.args],
}

/** opencode in `home`, once `opencode mcp add` has put the gateway into its configuration. */
async function opencodeWith(add: readonly string[], home: ClientHome, modelUrl = 'http://127.0.0.1:9') {
  const program = PEER.opencode()
  const env = { ...home.env, ...NO_WAY_OUT, OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }
  const opencode = (...args: readonly string[]) =>
    succeed({ command: program.command, args: [...program.args, ...args] }, { env, cwd: home.folder })
  await writeFile(join(home.folder, 'opencode.json'), JSON.stringify(settings(modelUrl)))
  await opencode('mcp', 'add', ...add)
  return opencode
}

function settings(modelUrl: string) {
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'standin/standin',
    small_model: 'standin/standin',
    provider: {
      standin: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${modelUrl}/v1`, apiKey: 'dummy' },
        models: { standin: { name: 'standin', tool_call: true, limit: { context: 100_000, output: 1000 } } },
      },
    },
  }
}

describe.each(Object.entries(ADD))('opencode over %s', (_, add) => {
  it('connects after `opencode mcp add`', async ({ gateway, home }) => {
    const opencode = await opencodeWith(add(gateway), home)
    expect(await opencode('mcp', 'list')).toMatch(/✓ reeve\W.*connected/)
  })

  it('runs a whole agent loop', async ({ gateway, home }) => {
    await using model = await startChatModel(LOOP)
    const opencode = await opencodeWith(add(gateway), home, model.url)
    expect(await opencode('run', 'Use the echo tool.')).toMatch(SAID)
    expect(JSON.stringify(model.requests)).toContain('over here')
  })
})
