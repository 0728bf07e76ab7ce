import { describe, expect } from 'vitest'
import { startResponsesModel } from '../standins/openai-responses.js'
import { CODEX_ENTRIES, codexHome } from './codex-home.js'
import { LOOP, SAID } from './loop.js'
import { PEER } from './peers.js'
import { succeed } from './program.js'
import { it } from './with-gateway.js'

describe.each(Object.entries(CODEX_ENTRIES))('codex exec over %s', (_, entry) => {
  it('runs a whole agent loop', async ({ gateway, home }) => {
    await using model = await startResponsesModel(LOOP)
    const env = await codexHome(home, { entry: entry(gateway), modelUrl: model.url, token: gateway.token })
    const { command, args } = PEER.codex()
    const flags = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
    const printed = await succeed(
      { command, args: [...args, ...flags, 'Use the echo tool.'] },
      { env, cwd: home.folder },
    )
    expect(printed).toMatch(SAID)
    expect(JSON.stringify(model.requests)).toContain('over here')
  })
})
