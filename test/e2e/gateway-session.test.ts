import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { isRunning } from '../fixtures/stdio/fixture-processes.js'
import { openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { resultOf, textOf, toolNames } from './gateway/results.js'

describe('the session', () => {
  it('wants initialize once and first, and knows its methods', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const again = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    await expect(resultOf(session, 'initialize', again)).rejects.toMatchObject({ code: -32600 })
    await expect(resultOf(session, 'tools/frobnicate')).rejects.toMatchObject({ code: -32601 })
    await expect(resultOf(session, '__proto__')).rejects.toMatchObject({ code: -32601 })
    await expect(resultOf(session, 'tools/call', {})).rejects.toMatchObject({ code: -32602 })
    await expect(resultOf(session, 'tools/call', { name: 7 })).rejects.toMatchObject({ code: -32602 })
    await expect(resultOf(session, 'tools/call', { name: '__proto__' })).rejects.toMatchObject({ code: -32602 })
    await expect(resultOf(session, 'tools/call', { name: 'notes__echo', arguments: [1] })).rejects.toMatchObject({
      code: -32602,
      data: { code: 'invalid_arguments' },
    })
    await expect(resultOf(session, 'tools/call', { name: 'notes__echo', _meta: 7 })).rejects.toMatchObject({
      code: -32602,
    })
    await expect(resultOf(session, 'logging/setLevel', { level: 'loud' })).rejects.toMatchObject({ code: -32602 })
    await expect(resultOf(session, 'resources/read', {})).rejects.toMatchObject({ code: -32602 })
    await expect(resultOf(session, 'completion/complete', { ref: 'x' })).rejects.toMatchObject({ code: -32602 })
    expect(await resultOf(session, 'ping')).toEqual({})
    expect(gateway.warnings).toEqual([])
  })

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['2025-06-18', '2025-06-18'],
    ['2026-07-28', '2025-11-25'],
    ['whatever', '2025-11-25'],
  ])('asked for %s speaks %s', async (asked, spoken) => {
    await using home = await openHome(() => ({}))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN, revision: asked })
    expect(session.headers['mcp-protocol-version']).toBe(spoken)
    expect(gateway.serving.sessions()[0]?.client?.revision).toBe(spoken)
  })

  it('of one client never sees what belongs to another', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const capabilities = { elicitation: {} }
    const sessions = [
      await RawSession.open(gateway.url, { token: TOKEN, capabilities }),
      await RawSession.open(gateway.url, { token: TOKEN, capabilities }),
    ]
    const _meta = { progressToken: 'same' }
    const answers = await Promise.all(
      sessions.map(async (session, index) => {
        const steps = index + 2
        const progress = await session.stream('tools/call', { name: 'notes__progress', arguments: { steps }, _meta }, 1)
        const totals: unknown[] = []
        for (let message = await progress.message(); message.result === undefined; message = await progress.message()) {
          totals.push((message.params as JsonObject).total)
        }
        const asking = await session.stream('tools/call', { name: 'notes__ask', arguments: {} }, 2)
        const asked = await asking.message()
        await session.post({
          jsonrpc: '2.0',
          id: asked.id,
          result: { action: 'accept', content: { name: `n${index}` } },
        })
        return { totals, answer: JSON.parse(textOf((await asking.message()).result as JsonObject)) as unknown }
      }),
    )
    expect(answers).toEqual([
      { totals: [2, 2], answer: { action: 'accept', content: { name: 'n0' } } },
      { totals: [3, 3, 3], answer: { action: 'accept', content: { name: 'n1' } } },
    ])
  })

  it('takes its servers along when it ends', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const { pid } = JSON.parse(textOf(await resultOf(session, 'tools/call', { name: 'notes__process' })))
    expect(isRunning(pid)).toBe(true)
    await session.end()
    await expect.poll(() => isRunning(pid)).toBe(false)
    await expect.poll(() => gateway.serving.sessions()).toEqual([])
  })

  it('survives a client that never reads what its servers shout', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve, { limits: { backlogBytes: 50_000, replayBytes: 50_000 } })
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const stream = await session.listen()
    stream.response.pause()
    // With a second request under way nobody can tell whose a notification is, and it goes to the standalone stream.
    const hanging = session.stream('tools/call', { name: 'notes__hang' }, 'hanging')
    const data = 'x'.repeat(20_000)
    for (let round = 0; round < 300; round += 1) {
      await resultOf(session, 'tools/call', {
        name: 'notes__notify',
        arguments: { method: 'notifications/x/shout', params: { data } },
      })
    }
    const other = await RawSession.open(gateway.url, { token: TOKEN })
    expect(await toolNames(other)).toContain('notes__echo')
    expect(await toolNames(session)).toContain('notes__echo')
    expect(stream.events.length).toBeLessThan(300)
    await session.notify('notifications/cancelled', { requestId: 'hanging' })
    while ((await (await hanging).next()) !== undefined);
    stream.drop()
  })

  it('ends what is under way when the gateway closes', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    const gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    await toolNames(session)
    const hanging = session.request('tools/call', { name: 'notes__hang' })
    const stream = await session.listen()
    await gateway.serving.close()
    expect((await hanging).status).toBe(404)
    while ((await stream.next()) !== undefined);
    await gateway.serving.closed
    expect(gateway.serving.sessions()).toEqual([])
  })
})
