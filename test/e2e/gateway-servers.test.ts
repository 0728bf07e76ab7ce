import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { resultOf, textOf, toolNames } from './gateway/results.js'

describe('servers in trouble', () => {
  it('hide no other: a slow one comes later, a dead one is named', async () => {
    await using home = await openHome((path) => ({
      good: {},
      late: { args: ['--start-delay', '2500'] },
      dead: { script: `${path}/missing.mjs` },
    }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const stream = await session.listen()
    const names = await toolNames(session)
    expect(names).toContain('good__echo')
    expect(names).not.toContain('late__echo')
    const resources = await resultOf(session, 'resources/list')
    expect(resources.resources).not.toEqual([])
    expect(resources._meta).toMatchObject({ 'reeve/failures': [{ server: 'dead', environment_id: null }] })
    while ((await stream.message()).method !== 'notifications/tools/list_changed');
    expect(await toolNames(session)).toContain('late__echo')
    stream.drop()
  })

  it('fail a call with the server named when it dies in it, and come back', async () => {
    await using home = await openHome(() => ({ notes: {}, files: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    await toolNames(session)
    await expect(resultOf(session, 'tools/call', { name: 'notes__crash', arguments: {} })).rejects.toMatchObject({
      code: -32603,
      data: { server: 'notes', environment_id: null },
    })
    expect(textOf(await resultOf(session, 'tools/call', { name: 'files__echo', arguments: { message: 'ok' } }))).toBe(
      'ok',
    )
    await expect
      .poll(
        async () => (await session.request('tools/call', { name: 'notes__echo', arguments: { message: 'back' } })).text,
        {
          timeout: 20_000,
        },
      )
      .toContain('back')
  })

  it('fail the handshake with their names when they are required', async () => {
    await using home = await openHome((path) => ({ dead: { script: `${path}/missing.mjs`, toml: 'required = true' } }))
    await using gateway = await openGateway(home.reeve)
    await expect(RawSession.open(gateway.url, { token: TOKEN })).rejects.toThrow(
      /"code":-32603.*required MCP servers failed to initialize: dead: .*"code":"required_servers_failed"/,
    )
    await expect.poll(() => gateway.serving.sessions()).toEqual([])
  })

  it('are refused what the client cannot do, and told what it refuses', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list']) {
      const call = { name: 'notes__ask', arguments: { method, params: {} } }
      expect(JSON.parse(textOf(await resultOf(session, 'tools/call', call)))).toMatchObject({ error: { code: -32601 } })
    }
    const able = await RawSession.open(gateway.url, { token: TOKEN, capabilities: { elicitation: {} } })
    const stream = await able.stream('tools/call', { name: 'notes__ask', arguments: {} }, 'call')
    const asked = await stream.message()
    expect(asked).toMatchObject({ method: 'elicitation/create', params: { message: 'Your name?' } })
    await able.post({ jsonrpc: '2.0', id: asked.id, error: { code: -1, message: 'not now', data: { why: 'busy' } } })
    const answer = (await stream.message()).result as JsonObject
    expect(JSON.parse(textOf(answer))).toEqual({ error: { code: -1, message: 'not now', data: { why: 'busy' } } })
  })
})

describe('a question of a server', () => {
  it('is taken back on the same stream when the server takes it back', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN, capabilities: { elicitation: {} } })
    const stream = await session.stream('tools/call', { name: 'notes__ask', arguments: {} })
    const asked = await stream.message()
    expect(asked.method).toBe('elicitation/create')
    // The server numbers its requests from s0.
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 's0' } }
    await resultOf(session, 'tools/call', { name: 'notes__notify', arguments: cancelled })
    expect(await stream.message()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: asked.id },
    })
    stream.drop()
  })

  it("gets the client's progress under the server's own token", async () => {
    await using home = await openHome((path) => ({ notes: { args: ['--record', `${path}/notes.record`] } }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN, capabilities: { sampling: {} } })
    const params = { messages: [], maxTokens: 1, _meta: { progressToken: 'of the server', kept: true } }
    const args = { method: 'sampling/createMessage', params }
    const stream = await session.stream('tools/call', { name: 'notes__ask', arguments: args })
    const asked = await stream.message()
    const meta = (asked.params as JsonObject)._meta as JsonObject
    expect(meta).toMatchObject({ kept: true })
    await session.notify('notifications/progress', {
      progressToken: meta.progressToken ?? '',
      progress: 1,
      message: 'half',
    })
    await expect
      .poll(async () => (await home.recorded('notes')).find(({ method }) => method === 'notifications/progress'))
      .toMatchObject({ params: { progressToken: 'of the server', progress: 1, message: 'half' } })
    await session.post({ jsonrpc: '2.0', id: asked.id, result: { role: 'assistant' } })
    expect(await stream.message()).toHaveProperty('result')
  })

  it('waits for nobody when the client has left the session', async () => {
    await using home = await openHome((path) => ({ notes: { args: ['--record', `${path}/notes.record`] } }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN, capabilities: { elicitation: {} } })
    const stream = await session.stream('tools/call', { name: 'notes__ask', arguments: {} })
    await stream.message()
    await session.end()
    while ((await stream.next()) !== undefined);
    await expect.poll(() => gateway.serving.sessions()).toEqual([])
  })
})
