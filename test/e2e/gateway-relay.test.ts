import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'

const resultOf = async (session: RawSession, method: string, params?: JsonObject) => {
  const answer = (await session.request(method, params)).json()
  if (answer.error !== undefined) throw Object.assign(new Error('refused'), answer.error)
  return answer.result as JsonObject
}
const textOf = (result: JsonObject) => ((result.content as JsonObject[])[0]?.text ?? '') as string
const toolNames = async (session: RawSession) =>
  ((await resultOf(session, 'tools/list')).tools as { name: string }[]).map(({ name }) => name)

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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
