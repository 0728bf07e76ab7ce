import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startMessagesModel } from '../standins/anthropic-messages.js'
import { type ClientHome, NO_WAY_OUT } from './client-home.js'
import type { GatewayUnderTest } from './gateway-under-test.js'
import { LOOP, SAID } from './loop.js'
import { PEER } from './peers.js'
import { succeed } from './program.js'
import { it } from './with-gateway.js'

/** The gateway as an entry of `mcpServers`, and the same as arguments of `claude mcp add`. */
const ENTRIES: Readonly<Record<string, (gateway: GatewayUnderTest) => { entry: object; add: readonly string[] }>> = {
  HTTP: ({ url, token }) => ({
    entry: { type: 'http', url, headers: { Authorization: `Bearer ${token}` } },
    add: ['--transport', 'http', 'reeve', url, '--header', `Authorization: Bearer ${token}`],
  }),
  stdio: ({ stdio }) => ({ entry: stdio, add: ['reeve', '--', stdio.command, ...stdio.args] }),
}

function claude(home: ClientHome, modelUrl: string, ...args: readonly string[]): Promise<string> {
  const program = PEER.claude()
  const env = {
    ...home.env,
    ...NO_WAY_OUT,
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'dummy',
    ENABLE_TOOL_SEARCH: 'false',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }
  return succeed({ command: program.command, args: [...program.args, ...args] }, { env, cwd: home.folder })
}

describe.each(Object.entries(ENTRIES))('Claude Code over %s', (_, target) => {
  it('connects after `claude mcp add`', async ({ gateway, home }) => {
    await claude(home, 'http://127.0.0.1:9', 'mcp', 'add', '--scope', 'user', ...target(gateway).add)
    expect(await claude(home, 'http://127.0.0.1:9', 'mcp', 'list')).toMatch(/reeve: .*✔ Connected/)
  })

  it('runs a whole agent loop', async ({ gateway, home }) => {
    await using model = await startMessagesModel(LOOP)
    const file = join(home.folder, 'mcp.json')
    await writeFile(file, JSON.stringify({ mcpServers: { reeve: target(gateway).entry } }))
    const printed = await claude(
      home,
      model.url,
      ...['-p', 'Use the echo tool.', '--mcp-config', file, '--strict-mcp-config', '--output-format', 'json'],
      ...['--allowedTools', 'mcp__reeve__beta__echo,mcp__reeve__beta__process'],
    )
    expect(JSON.parse(printed)).toMatchObject({ subtype: 'success', result: expect.stringMatching(SAID) })
    expect(JSON.stringify(model.requests)).toContain('over here')
  })
})
