import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { resultOf, textOf, toolNames } from './gateway/results.js'

describe('a changed tool', () => {
  /** A session over a server whose tools change; a change counts once the gateway has seen it. */
  async function changing(gateway: Gateway) {
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    await toolNames(session)
    const count = () => gateway.serving.sessions()[0]?.servers[0]?.tools ?? 0
    const change = async (tool: 'add_tool' | 'remove_tool', args: JsonObject) => {
      const expected = count() + (tool === 'add_tool' ? 1 : -1)
      await resultOf(session, 'tools/call', { name: `notes__${tool}`, arguments: args })
      await expect.poll(count).toBe(expected)
    }
    return { session, change }
  }

  it('is refused until the client has listed again', async () => {
    await using home = await openHome(() => ({ notes: { args: ['--list-changed'] } }))
    await using gateway = await openGateway(home.reeve)
    const { session, change } = await changing(gateway)
    await change('add_tool', { name: 'pay', description: 'Pay 1' })
    expect(await toolNames(session)).toContain('notes__pay')
    await change('remove_tool', { name: 'pay' })
    await change('add_tool', { name: 'pay', description: 'Pay everything' })
    const call = { name: 'notes__pay', arguments: {} }
    for (const _again of [1, 2]) {
      await expect(resultOf(session, 'tools/call', call)).rejects.toMatchObject({
        code: -32602,
        data: { code: 'stale_catalog', server: 'notes', environment_id: null },
      })
    }
    expect(await toolNames(session)).toContain('notes__pay')
    expect(textOf(await resultOf(session, 'tools/call', call))).toBe('pay')
  })

  it('is called when it came back as it was, and when it is new', async () => {
    await using home = await openHome(() => ({ notes: { args: ['--list-changed'] } }))
    await using gateway = await openGateway(home.reeve)
    const { session, change } = await changing(gateway)
    await change('add_tool', { name: 'old' })
    expect(await toolNames(session)).toContain('notes__old')
    await change('remove_tool', { name: 'old' })
    await expect(resultOf(session, 'tools/call', { name: 'notes__old' })).rejects.toMatchObject({
      code: -32602,
      data: { code: 'unsupported_call', server: 'notes' },
    })
    await change('add_tool', { name: 'old' })
    expect(textOf(await resultOf(session, 'tools/call', { name: 'notes__old' }))).toBe('old')
    await change('add_tool', { name: 'new' })
    expect(textOf(await resultOf(session, 'tools/call', { name: 'notes__new' }))).toBe('new')
  })
})

describe('long lists', () => {
  it('come in pages: ten thousand tools, each once, in one order', async () => {
    await using home = await openHome(() =>
      Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e'].map((name) => [
          name,
          { args: ['--only-echo', '--tools', '2000', '--page-size', '500'] },
        ]),
      ),
    )
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    // Five servers with two thousand tools each need longer than the grace to come up.
    await expect.poll(() => toolNames(session), { timeout: 20_000 }).toHaveLength(2000)
    await expect
      .poll(() => gateway.serving.sessions()[0]?.servers.map(({ tools }) => tools), { timeout: 20_000 })
      .toEqual([2001, 2001, 2001, 2001, 2001])
    const names: string[] = []
    const pages: number[] = []
    let cursor: string | undefined
    do {
      const page = await resultOf(session, 'tools/list', cursor === undefined ? {} : { cursor })
      const tools = page.tools as { name: string }[]
      pages.push(tools.length)
      names.push(...tools.map(({ name }) => name))
      cursor = page.nextCursor as string | undefined
    } while (cursor !== undefined)
    expect(pages).toEqual([2000, 2000, 2000, 2000, 2000, 5])
    expect(new Set(names).size).toBe(10_005)
    expect(names).toEqual([...names].sort())
    expect(textOf(await resultOf(session, 'tools/call', { name: 'e__tool_1999', arguments: {} }))).toBe('tool_1999')
  })

  it('refuse a cursor that the gateway did not make', async () => {
    await using home = await openHome(() => ({ notes: {} }))
    await using gateway = await openGateway(home.reeve)
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
      for (const cursor of ['', 'x', 7, Buffer.from('["a",-1]').toString('base64url'), 'e30']) {
        await expect(resultOf(session, method, { cursor })).rejects.toMatchObject({ code: -32602 })
      }
    }
  })
})
