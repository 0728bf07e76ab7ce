import { expect } from 'vitest'
import { z } from 'zod'
import type { ClientHome } from './client-home.js'
import type { GatewayUnderTest } from './gateway-under-test.js'
import { speakJsonLines } from './json-lines.js'
import { PEER } from './peers.js'
import { startProgram } from './program.js'
import { OFFERED } from './servers.js'
import { it } from './with-gateway.js'

const Listed = z.object({ tools: z.array(z.object({ name: z.string() })) })

/** mcp-remote between the gateway's HTTP endpoint and a raw client on its pipes, past the handshake. */
async function bridge(gateway: GatewayUnderTest, home: ClientHome) {
  const { command, args } = PEER.mcpRemote()
  const authorization = ['--header', `Authorization: Bearer ${gateway.token}`]
  const all = [...args, gateway.url, '--transport', 'http-only', '--allow-http', '--silent', ...authorization]
  const program = startProgram({ command, args: all }, { env: home.env, cwd: home.folder })
  const lines = speakJsonLines(program, { jsonrpc: '2.0' })
  const hello = await lines.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1.0.0' },
  })
  lines.notify('notifications/initialized')
  return { hello, request: lines.request, [Symbol.asyncDispose]: program[Symbol.asyncDispose] }
}

it('lets mcp-remote bridge the handshake and the list of every server to stdio', async ({ gateway, home }) => {
  await using remote = await bridge(gateway, home)
  expect(remote.hello).toMatchObject({ protocolVersion: '2025-11-25', capabilities: { tools: {} } })
  const { tools } = Listed.parse(await remote.request('tools/list', {}))
  expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(OFFERED))
})

it('lets mcp-remote bridge calls to the server that the name tells', async ({ gateway, home }) => {
  await using remote = await bridge(gateway, home)
  const echoed = await remote.request('tools/call', { name: 'beta__echo', arguments: { message: 'over here' } })
  expect(echoed).toEqual({ content: [{ type: 'text', text: 'over here' }] })
  const asked = await remote.request('tools/call', { name: 'beta__process', arguments: {} })
  expect(JSON.stringify(asked)).toMatch(/--name\W+beta/)
})
