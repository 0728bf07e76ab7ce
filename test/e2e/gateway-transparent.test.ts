import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverKey } from '../../src/identity/index.js'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession, send } from './gateway/raw-http.js'

const FULL = fileURLToPath(new URL('../fixtures/full/server-2025.mjs', import.meta.url))

let home: Home
let gateway: Gateway
beforeAll(async () => {
  home = await openHome(() => ({ full: { script: FULL, args: ['--stdio'] } }))
  gateway = await openGateway(home.reeve, { transparent: serverKey('full') })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const resultOf = async (session: RawSession, method: string, params?: JsonObject) => {
  const answer = (await session.request(method, params)).messages().at(-1) ?? {}
  if (answer.error !== undefined) throw Object.assign(new Error('refused'), answer.error)
  return answer.result as JsonObject
}

describe('a transparent gateway', () => {
  it('introduces the server as it introduces itself, unknown capabilities too', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    }
    const headers = { authorization: `Bearer ${TOKEN}` }
    const { result } = (await send(gateway.url, { headers, body: JSON.stringify(initialize) })).json()
    expect(result).toMatchObject({
      serverInfo: { name: 'full-feature-server', websiteUrl: 'https://example.com/full-feature-server' },
      instructions: 'A server for tests that has every feature of the protocol.',
      capabilities: {
        'com.example/unknown': { since: '2031-01-01', nested: { flag: true } },
        experimental: { 'com.example/experiment': { level: 3 } },
        extensions: { 'com.example/unheard-of': { setting: 'kept' } },
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      },
    })
  })

  it('keeps names, URIs and cursors, and hands on methods that nobody here knows', async () => {
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const tools = (await resultOf(session, 'tools/list')).tools as JsonObject[]
    expect(tools.map(({ name }) => name)).toContain('test_simple_text')
    const listed = (await resultOf(session, 'resources/list')).resources as JsonObject[]
    expect(listed.map(({ uri }) => uri)).toContain('test://static-text')
    expect(await resultOf(session, 'resources/read', { uri: 'test://static-text' })).toMatchObject({
      contents: [{ uri: 'test://static-text' }],
    })
    const prompts = (await resultOf(session, 'prompts/list')).prompts as JsonObject[]
    expect(prompts.map(({ name }) => name)).toContain('test_simple_prompt')
    expect(await resultOf(session, 'skills/list')).toHaveProperty('skills')
    await expect(resultOf(session, 'com.example/none')).rejects.toMatchObject({ code: -32601 })
  })

  it('keeps the ids of tasks', async () => {
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const call = { name: 'slow_compute', arguments: { seconds: 0.05 }, task: { ttl: 60_000 } }
    const { task } = await resultOf(session, 'tools/call', call)
    const { taskId } = task as JsonObject
    expect(taskId).toMatch(/^[0-9a-f-]{36}$/)
    expect(await resultOf(session, 'tasks/get', { taskId: String(taskId) })).toMatchObject({ taskId })
    expect(await resultOf(session, 'tasks/result', { taskId: String(taskId) })).toMatchObject({
      content: expect.any(Array),
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    })
  })
})
