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

const Listed = z.object({ status: z.string(), tools: z.array(z.object({ name: z.string() })) })

/** The gateway as an entry of mcporter's file. */
const ENTRIES: Readonly<Record<string, (gateway: GatewayUnderTest) => object>> = {
  HTTP: ({ url, token }) => ({ baseUrl: url, allowHttp: true, headers: { Authorization: `Bearer ${token}` } }),
  stdio: ({ stdio }) => stdio,
}

async function mcporter(home: ClientHome, entry: object, ...verb: string[]): Promise<string> {
  const config = join(home.folder, 'mcporter.json')
  await writeFile(config, JSON.stringify({ mcpServers: { reeve: entry } }))
  const { command, args } = PEER.mcporter()
  const all = [...args, '--config', config, ...verb]
  return await succeed({ command, args: all }, { env: home.env, cwd: home.folder })
}

describe.each(Object.entries(ENTRIES))('mcporter over %s', (_, entry) => {
  it('lists the tools of every server', async ({ gateway, home }) => {
    const { status, tools } = Listed.parse(JSON.parse(await mcporter(home, entry(gateway), 'list', 'reeve', '--json')))
    expect(status).toBe('ok')
    expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(OFFERED))
  })

  it('calls the server that the name tells', async ({ gateway, home }) => {
    const echoed = await mcporter(home, entry(gateway), 'call', 'reeve.beta__echo', 'message=over here')
    expect(echoed.trim()).toBe('over here')
    const asked = await mcporter(home, entry(gateway), 'call', 'reeve.beta__process')
    expect(asked).toMatch(/--name\W+beta/)
  })
})
