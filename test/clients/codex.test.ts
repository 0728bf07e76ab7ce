import { describe, expect } from 'vitest'
import { z } from 'zod'
import type { ClientHome } from './client-home.js'
import { startCodexAppServer } from './codex-app-server.js'
import { CODEX_ENTRIES, codexHome } from './codex-home.js'
import type { GatewayUnderTest } from './gateway-under-test.js'
import { OFFERED } from './servers.js'
import { it } from './with-gateway.js'

const Statuses = z.object({ data: z.array(z.object({ name: z.string(), tools: z.record(z.string(), z.unknown()) })) })
const Started = z.object({ thread: z.object({ id: z.string() }) })

/** Nothing listens there: the app-server lists and calls without a model. */
const NO_MODEL = 'http://127.0.0.1:9'

/** `codex app-server` past its handshake, with the gateway in its configuration. */
async function appServer(gateway: GatewayUnderTest, home: ClientHome, entry: string) {
  const env = await codexHome(home, { entry, modelUrl: NO_MODEL, token: gateway.token })
  return startCodexAppServer({ env, cwd: home.folder })
}

describe.each(Object.entries(CODEX_ENTRIES))('codex app-server over %s', (_, entry) => {
  it('lists the tools of every server', async ({ gateway, home }) => {
    await using codex = await appServer(gateway, home, entry(gateway))
    const { data } = Statuses.parse(await codex.request('mcpServerStatus/list', {}))
    const reeve = data.find((status) => status.name === 'reeve')
    expect(Object.keys(reeve?.tools ?? {})).toEqual(expect.arrayContaining(OFFERED))
  })

  it('calls the server that the name tells', async ({ gateway, home }) => {
    await using codex = await appServer(gateway, home, entry(gateway))
    const started = await codex.request('thread/start', { cwd: home.folder, approvalPolicy: 'never' })
    const threadId = Started.parse(started).thread.id
    const call = (tool: string, args: object) =>
      codex.request('mcpServer/tool/call', { threadId, server: 'reeve', tool, arguments: args })
    expect(await call('beta__echo', { message: 'over here' })).toMatchObject({
      content: [{ type: 'text', text: 'over here' }],
    })
    expect(JSON.stringify(await call('beta__process', {}))).toMatch(/--name\W+beta/)
  })
})
