import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { resultOf, textOf, toolNames } from './gateway/results.js'

describe('what passes whole', () => {
  it('is every member of a tool but its name', async () => {
    await using home = await openHome(() => ({
      notes: { args: ['--schema-kb', '200', '--recursive-schema', '--long-name', '300'] },
    }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const tools = new Map(
      ((await resultOf(session, 'tools/list')).tools as JsonObject[]).map((tool) => [String(tool.name), tool]),
    )
    expect(tools.get('notes__params')).toEqual({
      name: 'notes__params',
      description: expect.any(String),
      inputSchema: { type: 'object' },
      _meta: { 'echo/tool': 'kept' },
      'x-unknown': 'kept',
    })
    expect(tools.get('notes__echo')).toMatchObject({ title: 'Echo', annotations: { idempotentHint: true } })
    expect(tools.get('notes__add')).not.toHaveProperty('title')
    expect(JSON.stringify(tools.get('notes__wide')).length).toBeGreaterThan(190_000)
    expect(tools.get('notes__tree')).toMatchObject({ inputSchema: { properties: { root: { $ref: '#/$defs/node' } } } })
    const long = [...tools.keys()].find((name) => name.includes('nnnnnnnn'))
    expect(long?.length).toBeLessThanOrEqual(64)
    expect(textOf(await resultOf(session, 'tools/call', { name: long ?? '', arguments: {} }))).toBe('long')
  })

  it('is every member of a result, unknown content and big texts too', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const media = await resultOf(session, 'tools/call', { name: 'notes__media', arguments: { unknown: true } })
    expect(media).toMatchObject({
      _meta: { 'echo/kept': true },
      'x-unknown': { deep: [null, 0, ''] },
      content: expect.arrayContaining([{ type: 'x-hologram', beams: [1, 2, 3] }]),
    })
    const big = await resultOf(session, 'tools/call', { name: 'notes__big', arguments: { bytes: 5_000_000 } })
    expect(textOf(big)).toHaveLength(5_000_000)
    const read = await resultOf(session, 'resources/read', { uri: 'reeve://notes/echo://greeting' })
    expect(read._meta).toEqual({ 'echo/kept': true })
  })

  it("is the caller's _meta, less what belongs to the caller's own host", async () => {
    await using home = await openHome((path) => ({ notes: { args: ['--record', `${path}/notes.record`] } }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const _meta = {
      traceparent: '00-1-2-03',
      'vendor/x': { deep: [1] },
      __proto__: 'kept',
      'codex/sandbox-state-meta': { sandboxPolicy: 'none' },
      'x-codex-turn-metadata': {},
      'openai/entitlementContext': 1,
      codex_approval_kind: 'x',
      threadId: 'mine',
      session_id: 'mine',
      windowId: 'w',
      plugin_id: 'p',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const call = { name: 'notes__params', arguments: {}, _meta }
    const seen = JSON.parse(textOf(await resultOf(session, 'tools/call', call)))._meta
    expect(seen).toEqual({ traceparent: '00-1-2-03', 'vendor/x': { deep: [1] }, threadId: expect.any(String) })
    expect(seen.threadId).not.toBe('mine')
    await resultOf(session, 'resources/read', { uri: 'echo://greeting', _meta })
    await resultOf(session, 'prompts/get', { name: 'notes__hello', _meta })
    const ref = { type: 'ref/prompt', name: 'notes__hello' }
    await resultOf(session, 'completion/complete', { ref, argument: { name: 'a', value: '' }, 'x-more': 1, _meta })
    const sent = await home.recorded('notes')
    for (const method of ['resources/read', 'prompts/get', 'completion/complete']) {
      const { params } = sent.find((frame) => frame.method === method) ?? {}
      expect((params as JsonObject)._meta).toEqual({ traceparent: '00-1-2-03', 'vendor/x': { deep: [1] } })
    }
    expect(sent.find(({ method }) => method === 'completion/complete')).toMatchObject({
      params: { ref: { name: 'hello' }, 'x-more': 1 },
    })
  })

  it.each([7, 'token', 0, '', { odd: true }])('is a progress token like %j', async (progressToken) => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const stream = await session.stream('tools/call', {
      name: 'notes__progress',
      arguments: { steps: 2 },
      _meta: { progressToken },
    })
    for (const progress of [1, 2]) {
      expect(await stream.message()).toMatchObject({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 2 },
      })
    }
    expect(await stream.message()).toMatchObject({ result: { content: [{ text: '2 steps' }] } })
  })
})

describe('resources', () => {
  it('of the only server are found and told under the raw URI that a client uses', async () => {
    await using home = await openHome(() => ({ notes: {}, bare: { args: ['--no-resources'] } }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    await toolNames(session)
    expect(await resultOf(session, 'resources/read', { uri: 'echo://say/hi' })).toMatchObject({
      contents: [{ uri: 'reeve://notes/echo://say/hi', text: 'hi' }],
    })
    await resultOf(session, 'resources/subscribe', { uri: 'echo://counter' })
    const touch = { name: 'notes__touch', arguments: { uri: 'echo://counter' } }
    const stream = await session.stream('tools/call', touch)
    expect(await stream.message()).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'echo://counter' },
    })
    stream.drop()
  })

  it.each([
    ['by an unknown server', 'reeve://nobody/echo://greeting', 'unknown_server'],
    ['by an environment that the server is not of', 'reeve://notes@nowhere/echo://greeting', 'unknown_server'],
    ['as the app of an unknown server', 'ui://reeve.nobody/x', 'unknown_server'],
    ['by nonsense', 'nonsense', 'ambiguous_server'],
    ['at endless length', 'x'.repeat(100_000), 'ambiguous_server'],
  ])('named %s are refused with a short reason', async (_how, uri, code) => {
    await using home = await openHome(() => ({ notes: {}, files: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const answer = await session.request('resources/read', { uri })
    expect(answer.json()).toMatchObject({ error: { code: -32602, data: { code } } })
    expect(answer.text.length).toBeLessThan(10_000)
  })

  it("that are missing are refused with the server's own words", async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    await expect(resultOf(session, 'resources/read', { uri: 'reeve://notes/echo://none' })).rejects.toMatchObject({
      code: -32002,
      data: { uri: 'echo://none' },
    })
  })
})
