import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import type { ClientHome } from './client-home.js'
import type { GatewayUnderTest } from './gateway-under-test.js'
import { PEER } from './peers.js'
import { succeed } from './program.js'
import { OFFERED } from './servers.js'
import { it } from './with-gateway.js'

const Listed = z.object({ tools: z.array(z.object({ name: z.string() })) })

type Target = (gateway: GatewayUnderTest, home: ClientHome) => Promise<readonly string[]>

/** What stands behind `--cli`: the gateway by URL, or as a program of the Inspector's own. */
const TARGETS: Readonly<Record<string, Target>> = {
  HTTP: async ({ url, token }) => [url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`],
  // By a file, since the Inspector takes `--config` for itself wherever it stands.
  stdio: async ({ stdio }, { folder }) => {
    const file = join(folder, 'mcp.json')
    await writeFile(file, JSON.stringify({ mcpServers: { reeve: stdio } }))
    return ['--config', file, '--server', 'reeve']
  },
}

async function inspect(home: ClientHome, target: readonly string[], ...method: string[]): Promise<unknown> {
  const { command, args } = PEER.inspector()
  const all = [...args, '--cli', ...target, '--method', ...method]
  return JSON.parse(await succeed({ command, args: all }, { env: home.env, cwd: home.folder }))
}

describe.each(Object.entries(TARGETS))('the Inspector over %s', (_, target) => {
  it('lists the tools of every server', async ({ gateway, home }) => {
    const { tools } = Listed.parse(await inspect(home, await target(gateway, home), 'tools/list'))
    expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(OFFERED))
  })

  it('calls the server that the name tells', async ({ gateway, home }) => {
    const reached = await target(gateway, home)
    const call = ['tools/call', '--tool-name', 'beta__echo', '--tool-arg', 'message=over here']
    const echoed = await inspect(home, reached, ...call)
    expect(echoed).toMatchObject({ content: [{ type: 'text', text: 'over here' }] })
    const asked = await inspect(home, reached, 'tools/call', '--tool-name', 'beta__process')
    expect(JSON.stringify(asked)).toMatch(/--name\W+beta/)
  })
})

it('refuses the Inspector with a wrong token', async ({ gateway, home }) => {
  const target = [gateway.url, '--transport', 'http', '--header', 'Authorization: Bearer wrong']
  await expect(inspect(home, target, 'tools/list')).rejects.toThrow(/auth_required/)
})
