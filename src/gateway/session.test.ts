import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { GatewaySession } from './session.js'
import { StdioTransport } from './stdio/stdio-transport.js'

/** The principals of the threads that a client's request asks for, when none of them can start. */
async function principalsOf(request: object, options: { readonly principal?: string }): Promise<unknown[]> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const asked: unknown[] = []
  const session = new GatewaySession(new StdioTransport({ input, output }), {
    version: '1',
    onWarning: () => undefined,
    startThread: async ({ principal }) => {
      asked.push(principal)
      throw new Error('no thread can start')
    },
    ...options,
  })
  await session.start()
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, ...request })}\n`)
  await once(output, 'data')
  await session.close()
  return asked
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

it('works for its own principal in either era, whoever starts with a request of the other one', async () => {
  const modern = { method: 'tools/list', params: { _meta: envelope } }
  const legacy = {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  }
  for (const request of [modern, legacy])
    expect(await principalsOf(request, { principal: 'oauth-ann' })).toEqual(['oauth-ann'])
  expect(await principalsOf(modern, {})).toEqual(['owner'])
})
