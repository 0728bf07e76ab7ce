import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { RawModern } from './gateway/raw-modern.js'
import { connectV1, connectV2, type Ears, MODERN, type SdkClient, type Target } from './gateway/sdk-clients.js'

let home: Home
let gateway: Gateway
beforeAll(async () => {
  home = await openHome((path) => ({
    asking: {
      args: ['--record', `${path}/asking.record`],
      toml: 'default_tools_approval_mode = "writes"\n[mcp_servers.asking.tools.echo]\napproval_mode = "prompt"',
    },
    hinted: { toml: 'default_tools_approval_mode = "auto"' },
    free: {},
  }))
  gateway = await openGateway(home.reeve)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const target = (): Target => ({ kind: 'http', url: gateway.url, token: TOKEN })
const clients: [string, (ears: Ears) => Promise<SdkClient>][] = [
  ['SDK v1', (ears) => connectV1(target(), ears)],
  ['SDK v2', (ears) => connectV2(target(), ears)],
  ['SDK v2, modern', (ears) => connectV2(target(), ears, { pin: MODERN })],
]

/** How often the server got a call of a tool. */
async function carriedOut(tool: string): Promise<number> {
  const calls = (await home.recorded('asking')).filter(({ method }) => method === 'tools/call')
  return calls.filter(({ params }) => JSON.stringify(params).includes(`"name":"${tool}"`)).length
}

describe.each(clients)('a client that shows forms: %s', (_name, connect) => {
  const asked: unknown[] = []
  let answer: ReturnType<Ears['onElicit']> = { action: 'accept', content: {} }
  let client: SdkClient
  beforeAll(async () => {
    client = await connect({
      heard: [],
      onElicit: (params) => {
        asked.push(params)
        return answer
      },
    })
  })
  afterAll(() => client[Symbol.asyncDispose]())

  it('is asked about a tool that is configured so, every time, and the call is made when it says yes', async () => {
    asked.length = 0
    answer = { action: 'accept', content: {} }
    const before = await carriedOut('echo').catch(() => 0)
    for (const message of ['one', 'two']) {
      const { content } = await client.callTool('asking__echo', { message })
      expect(content).toMatchObject([{ text: message }])
    }
    expect(await carriedOut('echo')).toBe(before + 2)
    expect(asked).toMatchObject([
      {
        message: 'Allow the asking MCP server to run tool "echo"?',
        requestedSchema: { type: 'object', properties: {} },
        _meta: { codex_approval_kind: 'mcp_tool_call', tool_name: 'echo', tool_params: { message: 'one' } },
      },
      { _meta: { tool_params: { message: 'two' } } },
    ])
  })

  it('says no, and nothing is sent', async () => {
    answer = { action: 'decline' }
    const before = await carriedOut('echo')
    await expect(client.callTool('asking__echo', { message: 'x' })).rejects.toThrow('user rejected MCP tool call')
    expect(await carriedOut('echo')).toBe(before)
  })

  it('is not asked about what reads only under writes, nor about servers of which nothing is configured', async () => {
    asked.length = 0
    answer = { action: 'decline' }
    await client.callTool('asking__add', { a: 1, b: 2 })
    await client.callTool('free__echo', { message: 'x' })
    await client.callTool('free__fails')
    expect(asked).toEqual([])
  })

  it('is asked by the hints of a tool under auto', async () => {
    asked.length = 0
    answer = { action: 'accept', content: {} }
    await client.callTool('hinted__add', { a: 1, b: 2 })
    expect(asked).toEqual([])
    await client.callTool('hinted__fails')
    expect(asked).toMatchObject([{ _meta: { tool_name: 'fails', persist: ['session', 'always'] } }])
  })
})

describe('a client that shows no forms', () => {
  const refused = {
    message: expect.stringContaining('`reeve approvals allow asking echo` allows it as it is now'),
    data: { code: 'approval_required', server: 'asking', environment_id: null, place: 'asking/echo' },
  }
  it.each<JsonObject>([{}, { elicitation: { url: {} } }])('is refused with the reason: %j', async (capabilities) => {
    const session = await RawSession.open(gateway.url, { token: TOKEN, capabilities })
    const call = { name: 'asking__echo', arguments: { message: 'x' } }
    const answer = await session.request('tools/call', call)
    expect(answer.json().error).toMatchObject(refused)
    const modern = new RawModern(gateway.url, { token: TOKEN, capabilities })
    await expect(modern.result('tools/call', call)).rejects.toMatchObject(refused)
  })
})
