import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { buildCli, cliHome } from './built-cli.js'

beforeAll(buildCli)

const SCRIPT = fileURLToPath(new URL('../fixtures/stdio/odd-words.mjs', import.meta.url))
const ODD = { 'com.example/odd': { deep: [1, { a: null }] } }
const OWN = 'io.modelcontextprotocol/'
const CLIENT = { name: 'raw', version: '1' }
const ENVELOPE = {
  [`${OWN}protocolVersion`]: '2026-07-28',
  [`${OWN}clientInfo`]: CLIENT,
  [`${OWN}clientCapabilities`]: {},
}

/** What the programs between a client and its server said, by the id of the request. */
async function conversation(server: 'old' | 'new', requests: readonly JsonObject[]): Promise<JsonObject[]> {
  await using home = await cliHome({ odd: { command: process.execPath, args: [SCRIPT, server] } })
  const program = home.start(['serve', '--stdio', '--transparent'])
  const lines = createInterface({ input: program.child.stdout })[Symbol.asyncIterator]()
  const results: JsonObject[] = []
  for (const [id, request] of requests.entries()) {
    program.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...request })}\n`)
    let answer: JsonObject = {}
    while (answer.id !== id) answer = JSON.parse((await lines.next()).value) as JsonObject
    results.push(answer.result as JsonObject)
  }
  program.child.stdin.end()
  expect(await program.exited).toEqual({ code: 0, signal: null })
  return results
}

describe.each(['old', 'new'] as const)('reeve serve --transparent before a server of the %s era', (server) => {
  it('passes what nobody knows between it and a client of the old era, whole and both ways', async () => {
    const said = { ...ODD, _meta: { 'com.example/client': 3 } }
    const [hello, tools, heard] = await conversation(server, [
      {
        method: 'initialize',
        params: { ...said, protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT },
      },
      { method: 'tools/list' },
      { method: 'tools/call', params: { name: 'heard' } },
    ])
    expect(hello).toMatchObject({
      ...ODD,
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'odd' },
      _meta: { 'com.example/hello': 1 },
    })
    expect(tools).toMatchObject({ ...ODD, tools: [{ name: 'heard' }], _meta: { 'com.example/list': 2 } })
    const [{ text }] = (heard as JsonObject).content as [{ text: string }]
    expect(JSON.parse(text)).toMatchObject(said)
  })

  it('passes it to a client of the new era too', async () => {
    const [hello, tools] = await conversation(server, [
      { method: 'server/discover', params: { _meta: ENVELOPE } },
      { method: 'tools/list', params: { _meta: ENVELOPE } },
    ])
    expect(hello).toMatchObject({
      ...ODD,
      resultType: 'complete',
      supportedVersions: expect.arrayContaining(['2026-07-28']),
      _meta: { 'com.example/hello': 1, [`${OWN}serverInfo`]: { name: 'odd' } },
    })
    expect(tools).toMatchObject({ ...ODD, tools: [{ name: 'heard' }], _meta: { 'com.example/list': 2 } })
  })
})
