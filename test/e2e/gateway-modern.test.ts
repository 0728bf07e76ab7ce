import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession, send } from './gateway/raw-http.js'
import { RawModern, textOf } from './gateway/raw-modern.js'

const FULL = (era: string) => fileURLToPath(new URL(`../fixtures/full/server-${era}.mjs`, import.meta.url))
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

let home: Home
let gateway: Gateway
beforeAll(async () => {
  home = await openHome((path) => ({
    notes: { args: ['--list-changed', '--instructions', 'Be short.', '--record', `${path}/notes.record`] },
    old: { script: FULL('2025'), args: ['--stdio'] },
    new: { script: FULL('2026'), args: ['--stdio'] },
  }))
  gateway = await openGateway(home.reeve)
  const client = new RawModern(gateway.url, { token: TOKEN })
  const connected = () => gateway.serving.sessions()[0]?.servers.filter(({ status }) => status === 'connected').length
  await client.result('server/discover')
  await vi.waitFor(() => expect(connected()).toBe(3), { timeout: 20_000 })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const client = (capabilities: JsonObject = {}) => new RawModern(gateway.url, { token: TOKEN, capabilities })

describe('a request without a session', () => {
  it('finds out what is here', async () => {
    expect(await client().result('server/discover')).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      instructions: expect.stringContaining('# MCP server: notes\n\nBe short.'),
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [SERVER_INFO]: { name: 'reeve', title: 'Reeve', version: '9.9.9' } },
    })
  })

  it('is answered whole, with a type and who says it', async () => {
    const answer = await client().request('tools/call', { name: 'notes__echo', arguments: { message: 'hi' } })
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json'])
    expect(answer.headers).not.toHaveProperty('mcp-session-id')
    expect(answer.json().result).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: 'hi' }],
      _meta: { [SERVER_INFO]: { name: 'reeve' } },
    })
    const media = await client().call('notes__media', { unknown: true })
    expect(media).toMatchObject({
      'x-unknown': { deep: [null, 0, ''] },
      content: expect.arrayContaining([{ type: 'x-hologram', beams: [1, 2, 3] }]),
      _meta: { 'echo/kept': true },
    })
  })

  it('lists in one order, with how long that may be kept', async () => {
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
      const [first, second] = [await client().result(method), await client().result(method)]
      expect(first).toEqual(second)
      // One of the servers is legacy and says nothing.
      expect(first).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' })
    }
    const read = await client().result('resources/read', { uri: 'reeve://notes/echo://greeting' })
    expect(read).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      contents: [{ text: 'hello' }],
    })
  })

  it('needs no introduction and no session, and ignores one', async () => {
    const headers = { 'mcp-session-id': 'whatever', 'last-event-id': '1-1' }
    const answer = await client().request(
      'tools/call',
      { name: 'notes__echo', arguments: { message: 'x' } },
      { headers },
    )
    expect(answer.status).toBe(200)
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const anonymous = await send(gateway.url, {
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'server/discover',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'server/discover', params: { _meta } }),
    })
    expect(anonymous.json()).toMatchObject({ id: 'a', result: { resultType: 'complete' } })
  })

  it("keeps the envelope of one hop from the next, and everything else of a caller's _meta", async () => {
    const meta = { traceparent: '00-1-2-03', 'io.modelcontextprotocol/logLevel': 'info' }
    const seen = JSON.parse(textOf(await client().call('notes__params', {}, { 'x-more': [1] }, { meta })))
    expect(seen).toMatchObject({ 'x-more': [1], _meta: { traceparent: '00-1-2-03' } })
    expect(Object.keys(seen._meta).filter((member) => member.startsWith('io.modelcontextprotocol/'))).toEqual([])
  })

  it('shares one thread with all that say the same of themselves', async () => {
    const pid = async (one: RawModern) => JSON.parse(textOf(await one.call('notes__process'))).pid as number
    const before = gateway.serving.sessions().length
    expect(await pid(client())).toBe(await pid(client()))
    expect(gateway.serving.sessions()).toHaveLength(before)
    await client({ 'com.example/other': {} }).call('notes__echo', { message: 'x' })
    expect(gateway.serving.sessions()).toHaveLength(before + 1)
    expect(gateway.serving.sessions().at(-1)).toMatchObject({
      principal: 'owner',
      client: { info: { name: 'raw' }, revision: '2026-07-28' },
    })
  })
})

describe('what a request is refused for', () => {
  const call = { name: 'notes__echo', arguments: { message: 'x' } }

  it.each<[string, Record<string, string>]>([
    ['no revision', { 'mcp-protocol-version': '' }],
    ['another revision than the body', { 'mcp-protocol-version': '2025-11-25' }],
    ['no method', { 'mcp-method': '' }],
    ['another method', { 'mcp-method': 'tools/list' }],
    ['the method in capitals', { 'mcp-method': 'TOOLS/CALL' }],
    ['no name', { 'mcp-name': '' }],
    ['another name', { 'mcp-name': 'notes__add' }],
    ['a name in broken base64', { 'mcp-name': '=?base64?bm90?=' }],
  ])('its headers: %s', async (_what, headers) => {
    const answer = await client().request('tools/call', call, { id: 'mine', headers })
    expect([answer.status, answer.json().id]).toEqual([400, 'mine'])
    expect(answer.json().error).toMatchObject({ code: -32020 })
  })

  it('not for a name in base64, or with blanks round it', async () => {
    const encoded = `=?base64?${Buffer.from('notes__echo').toString('base64')}?=`
    for (const name of [encoded, '  notes__echo  ']) {
      expect((await client().request('tools/call', call, { headers: { 'mcp-name': name } })).status).toBe(200)
    }
  })

  it.each([
    ['no _meta', undefined],
    ['no revision', { 'io.modelcontextprotocol/clientCapabilities': {} }],
    ['no capabilities', { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }],
    [
      'capabilities that are none',
      { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': [] },
    ],
  ])('its envelope: %s', async (_what, _meta) => {
    const answer = await send(gateway.url, {
      headers: { authorization: `Bearer ${TOKEN}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list', params: { ...(_meta && { _meta }) } }),
    })
    expect(answer.status).toBe(400)
    expect(answer.json()).toMatchObject({ id: 7, error: { code: -32602 } })
  })

  it('its revision, with those that are served', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '1999-01-01',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const answer = await send(gateway.url, {
      headers: { authorization: `Bearer ${TOKEN}`, 'mcp-protocol-version': '1999-01-01', 'mcp-method': 'tools/list' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta } }),
    })
    expect(answer.status).toBe(400)
    expect(answer.json()).toMatchObject({
      id: 7,
      error: { code: -32022, data: { requested: '1999-01-01', supported: expect.arrayContaining(['2026-07-28']) } },
    })
  })

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'tasks/list', 'tasks/result', 'x/unknown'])(
    'its method: %s',
    async (method) => {
      const answer = await client().request(method, { uri: 'a:b', level: 'info', taskId: 't' })
      expect([answer.status, (answer.json().error as JsonObject).code]).toEqual([404, -32601])
    },
  )

  it('being no request at all', async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'mcp-protocol-version': '2026-07-28' }
    const post = (message: unknown) => send(gateway.url, { headers, body: JSON.stringify(message) })
    expect((await post({ jsonrpc: '2.0', method: 'notifications/x' })).status).toBe(202)
    expect((await post({ jsonrpc: '2.0', id: 1, result: {} })).status).toBe(400)
    expect((await post([{ jsonrpc: '2.0', id: 1, method: 'tools/list' }])).status).toBe(400)
    for (const method of ['GET', 'DELETE']) {
      const answer = await send(gateway.url, { method, headers: { ...headers, accept: 'text/event-stream' } })
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
    }
  })

  it('nothing that a server says itself, and keeps its code', async () => {
    const error = { code: -32050, message: 'mine' }
    const relayed = await client().request('tools/call', { name: 'notes__rpc_error', arguments: error })
    expect([relayed.status, relayed.json().error]).toMatchObject([200, { ...error, data: { reason: 'asked for' } }])
    const missing = await client().request('resources/read', { uri: 'reeve://notes/echo://none' })
    // -32002 up to 2025-11-25.
    expect(missing.json().error).toMatchObject({ code: -32602, data: { uri: 'echo://none' } })
    for (const [code, told] of [
      [-32020, -32603],
      [-32022, -32603],
    ]) {
      const args = { code: code ?? 0, message: 'between us' }
      await expect(client().call('notes__rpc_error', args)).rejects.toMatchObject({ code: told, message: 'between us' })
    }
  })

  it('strange levels of the log and nesting without an end', async () => {
    const meta = { 'io.modelcontextprotocol/logLevel': 'loud' }
    await expect(client().call('notes__echo', {}, {}, { meta })).rejects.toMatchObject({ code: -32602 })
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': { deep: 'HERE' },
        },
      },
    }).replace('"HERE"', deep)
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    }
    expect((await send(gateway.url, { headers, body })).json()).toMatchObject({ id: 1, error: { code: -32602 } })
  })
})

describe('parameters that a tool mirrors in headers', () => {
  const tool = 'new__test_custom_headers'
  const outcome = async (args: JsonObject, headers: Record<string, string> = {}) => {
    const answer = await client().request('tools/call', { name: tool, arguments: args }, { headers })
    const { error } = answer.messages().at(-1) ?? {}
    return [answer.status, (error as JsonObject | undefined)?.code]
  }
  const passed = [200, undefined]
  const refused = [400, -32020]
  const utf8 = `=?base64?${Buffer.from('wörld').toString('base64')}?=`

  it('are listed with their marks', async () => {
    const { tools } = (await client().result('tools/list')) as { tools: JsonObject[] }
    expect(tools.find(({ name }) => name === tool)).toMatchObject({
      inputSchema: { properties: { region: { 'x-mcp-header': 'Region' } } },
    })
  })

  it.each<[string, JsonObject, Record<string, string>, unknown[]]>([
    ['all there', { region: 'eu', priority: 42 }, { 'mcp-param-region': 'eu', 'mcp-param-priority': '42' }, passed],
    ['a number in another form', { priority: 42 }, { 'mcp-param-priority': '42.0' }, passed],
    ['a number that is none', { priority: 42 }, { 'mcp-param-priority': '0x2a' }, refused],
    ['a boolean', { verbose: false }, { 'mcp-param-verbose': 'false' }, passed],
    ['another boolean', { verbose: false }, { 'mcp-param-verbose': 'FALSE' }, refused],
    ['one that is nested', { place: { city: 'wörld' } }, { 'mcp-param-city': utf8 }, passed],
    ['one that is nested and not mirrored', { place: { city: 'Oslo' } }, {}, refused],
    ['none that is null or absent', { region: null }, {}, passed],
    ['one for a value that is not there', {}, { 'mcp-param-region': 'eu' }, refused],
    ['one that says something else', { region: 'eu' }, { 'mcp-param-region': 'us' }, refused],
    ['broken base64', { region: 'eu' }, { 'mcp-param-region': '=?base64?ZX?=' }, refused],
    ['one that nobody marked', { region: 'eu' }, { 'mcp-param-region': 'eu', 'mcp-param-x': 'y' }, passed],
  ])('are compared as what they are: %s', async (_what, args, headers, expected) => {
    expect(await outcome(args, headers)).toEqual(expected)
  })
})

describe('what belongs to a request', () => {
  it('comes on its stream: progress under its token, the log when it asked for one', async () => {
    const progressToken = { odd: ['token'] }
    const stream = await client().stream(
      'tools/call',
      { name: 'notes__progress', arguments: { steps: 2 } },
      { meta: { progressToken } },
    )
    expect(stream.response.headers['content-type']).toBe('text/event-stream')
    for (const progress of [1, 2]) {
      const message = await stream.message()
      expect(message).toMatchObject({ method: 'notifications/progress', params: { progressToken, progress } })
    }
    expect(await stream.message()).toMatchObject({ result: { resultType: 'complete', content: [{ text: '2 steps' }] } })
    expect(await stream.next()).toBeUndefined()
    expect(stream.events.every(({ id }) => id === undefined)).toBe(true)
  })

  it('is told down to the level of the request, and not at all without one', async () => {
    const log = async (level: string, least?: string) => {
      const meta: JsonObject = least === undefined ? {} : { 'io.modelcontextprotocol/logLevel': least }
      const call = { name: 'notes__log', arguments: { level, data: 'said' } }
      const answer = await client().request('tools/call', call, { meta })
      return answer.messages().map(({ method }) => method)
    }
    expect(await log('info')).toEqual([undefined])
    expect(await log('info', 'warning')).toEqual([undefined])
    expect(await log('error', 'warning')).toEqual(['notifications/message', undefined])
    expect(await log('debug', 'debug')).toEqual(['notifications/message', undefined])
  })

  it('ends with its stream, as far as the server', async () => {
    const recorded = async (method: string) =>
      (await home.recorded('notes')).filter((message) => message.method === method)
    const hanging = async () =>
      (await recorded('tools/call')).filter(({ params }) => (params as JsonObject).name === 'hang')
    const before = (await hanging()).length
    const stream = await client().stream('tools/call', { name: 'notes__hang', arguments: {} })
    await expect.poll(async () => (await hanging()).length).toBe(before + 1)
    const { id } = (await hanging()).at(-1) ?? {}
    stream.drop()
    await expect
      .poll(async () => (await recorded('notifications/cancelled')).at(-1))
      .toMatchObject({ params: { requestId: id } })
  })
})

describe('both eras on one endpoint', () => {
  it('serve a client of each at the same time', async () => {
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const legacy = await session.request('tools/call', { name: 'notes__echo', arguments: { message: 'old' } })
    const modern = await client().call('notes__echo', { message: 'new' })
    expect([textOf(legacy.json().result as JsonObject), textOf(modern)]).toEqual(['old', 'new'])
    expect(legacy.json().result).not.toHaveProperty('resultType')
    await session.end()
  })

  it('give a legacy client nothing that only a modern one knows', async () => {
    const session = await RawSession.open(gateway.url, { token: TOKEN })
    const read = (await session.request('resources/read', { uri: 'reeve://new/test://static-text' })).json().result
    expect(read).toMatchObject({ contents: [{ uri: 'reeve://new/test://static-text' }] })
    for (const member of ['resultType', 'ttlMs', 'cacheScope', '_meta']) expect(read).not.toHaveProperty(member)
    const missing = await session.request('resources/read', { uri: 'reeve://new/test://none' })
    expect(missing.json().error).toMatchObject({ code: -32002, data: { uri: 'test://none' } })
    await session.end()
  })
})
