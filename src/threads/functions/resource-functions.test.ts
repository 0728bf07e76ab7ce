import { describe, expect, it } from 'vitest'
import {
  gate,
  Refusal,
  type Script,
  type ScriptedRequest,
  type ScriptedServer,
} from '../../../test/fixtures/connections/scripted-server.js'
import { FunctionWorld, type WorldServer } from '../../../test/fixtures/functions/function-world.js'
import { ProcessFailedError } from '../../errors.js'
import { serverKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'

const NOTES: readonly WorldServer[] = [
  { name: 'notes', environment: 'a', script: { 'resources/read': () => ({ contents: [{ uri: 'x', text: 'of a' }] }) } },
  { name: 'notes', environment: 'b', script: { 'resources/read': () => ({ contents: [{ uri: 'x', text: 'of b' }] }) } },
]

describe('resource functions', () => {
  it('are none where there is no server, and refuse other names', async () => {
    await using empty = new FunctionWorld([])
    const none = await empty.functions(['local'])
    expect(none.tools).toEqual([])
    await expect(none.call('list_mcp_resources', {})).rejects.toMatchObject({ code: 'unsupported_call' })
    await using world = new FunctionWorld(NOTES)
    const functions = await world.functions(['a', 'b'])
    expect(functions.tools.map(({ name }) => name)).toEqual([
      'list_mcp_resources',
      'list_mcp_resource_templates',
      'read_mcp_resource',
    ])
    for (const name of ['toString', '', 'read']) {
      await expect(functions.call(name, {})).rejects.toMatchObject({ code: 'unsupported_call' })
    }
  })

  it('name the environments that own a server when one is asked for', async () => {
    await using world = new FunctionWorld(NOTES)
    const functions = await world.functions(['a', 'b'])
    const { error, item } = await functions.call('read_mcp_resource', { server: 'notes', uri: 'x' })
    expect(error).toMatchObject({ code: 'environment_id_required', data: { choices: ['a', 'b'] } })
    expect(item).toBeUndefined()
  })

  it('take a sole owner by its name alone only where the thread says so', async () => {
    await using world = new FunctionWorld(NOTES.slice(0, 1))
    const call = ['read_mcp_resource', { server: 'notes', uri: 'x' }] as const
    const strict = await world.functions(['a', 'b'])
    expect((await strict.call(...call)).error?.code).toBe('environment_id_required')
    const lenient = await world.functions(['a', 'b'], { soleOwners: true })
    expect(await lenient.call(...call)).toMatchObject({
      output: '{"server":"notes","environment_id":"a","uri":"x","contents":[{"uri":"x","text":"of a"}]}',
      item: { server: 'notes', environment: 'a', status: 'completed' },
    })
    await using two = new FunctionWorld(NOTES)
    const both = await two.functions(['a', 'b'], { soleOwners: true })
    expect((await both.call(...call)).error?.code).toBe('environment_id_required')
  })

  it('read the URI of one environment through another, and say whose answer it is', async () => {
    await using world = new FunctionWorld(NOTES)
    const functions = await world.functions(['a', 'b'])
    const { output, item } = await functions.call('read_mcp_resource', {
      server: 'notes',
      environment_id: 'b',
      uri: 'note://a/two',
    })
    expect(JSON.parse(output)).toMatchObject({ environment_id: 'b', uri: 'note://a/two', contents: [{ text: 'of b' }] })
    expect(item).toMatchObject({ server: 'notes', environment: 'b' })
  })

  it('are bound before they are sent: hooks come between', async () => {
    await using world = new FunctionWorld(NOTES)
    const functions = await world.functions(['a', 'b'])
    const preparation = functions.prepare('read_mcp_resource', '{"server":" notes ","environment_id":"b","uri":"x"}')
    if (preparation.is !== 'prepared') throw new Error('refused')
    expect(preparation.call).toMatchObject({
      key: serverKey('notes', 'b'),
      arguments: { server: 'notes', environmentId: 'b', uri: 'x' },
    })
    expect(world.server(serverKey('notes', 'b')).count('resources/read')).toBe(0)
    expect((await preparation.call.run()).output).toContain('of b')
    expect(functions.prepare('read_mcp_resource', { server: 'notes', uri: 'x' }).is).toBe('refused')
  })

  it('keep what a server says of its resources, and no word of whose they are', async () => {
    const resource = { size: 3, uri: 'x', _meta: { kept: [1] }, name: 'one', server: 'other', environment_id: 'b' }
    await using world = new FunctionWorld([
      { name: 'notes', script: { 'resources/list': () => ({ resources: [resource], nextCursor: '' }) } },
    ])
    const functions = await world.functions(['local'])
    expect((await functions.call('list_mcp_resources', { server: 'notes' })).output).toBe(
      '{"server":"notes","resources":[{"server":"notes","uri":"x","name":"one","size":3,"_meta":{"kept":[1]}}]}',
    )
  })

  it('send the cursor on, and give the next one', async () => {
    await using world = new FunctionWorld([{ name: 'notes', script: { 'resources/list': counting } }])
    const functions = await world.functions(['local'])
    const { output } = await functions.call('list_mcp_resources', { server: 'notes', cursor: ' 1 ' })
    expect(JSON.parse(output)).toEqual({ server: 'notes', resources: [], nextCursor: '2' })
  })

  it('leave servers out of a listing of all that fail, and tell each failure once', async () => {
    let isWell = false
    const listing = (): JsonObject => {
      if (!isWell) throw new Refusal(-32000, 'not today')
      return { resources: [{ uri: 'b', name: 'b' }] }
    }
    await using world = new FunctionWorld([
      { name: 'well', script: { 'resources/list': () => ({ resources: [{ uri: 'a', name: 'a' }] }) } },
      { name: 'failing', script: { 'resources/list': listing } },
      {
        name: 'broken',
        opens() {
          throw new ProcessFailedError('no such program')
        },
      },
    ])
    const functions = await world.functions(['local'])
    for (const _ of [1, 2]) {
      const { output, error } = await functions.call('list_mcp_resources', '')
      expect(error).toBeUndefined()
      expect(output).toBe('{"resources":[{"server":"well","uri":"a","name":"a"}]}')
    }
    expect(world.told).toMatchObject([
      {
        type: 'warning',
        key: serverKey('broken'),
        message: expect.stringMatching(/^left out of resources\/list: .*no such program/),
      },
      {
        type: 'warning',
        key: serverKey('failing'),
        code: 'rpc_error',
        message: 'left out of resources/list: not today',
      },
    ])
    isWell = true
    const { output } = await functions.call('list_mcp_resources', undefined)
    expect(output).toContain('"server":"failing"')
    isWell = false
    await functions.call('list_mcp_resources', undefined)
    expect(world.told).toHaveLength(3)
  })

  it('ask all servers at once, those of the step that are up by then, and wait for no other', async () => {
    const [reached, answers] = [gate(), gate()]
    let asked = 0
    const together: Script = async (_params, { server }) => {
      if (isStarting(server)) return { resources: [] }
      asked += 1
      if (asked === 2) reached.open()
      await answers.passed
      return { resources: [{ uri: 'x', name: 'x' }] }
    }
    const starting = gate<JsonObject>()
    const lateList = { resources: [{ uri: 'y', name: 'y' }] }
    await using world = new FunctionWorld([
      { name: 'b', script: { 'resources/list': together } },
      { name: 'a', script: { 'resources/list': together } },
    ])
    await using late = new FunctionWorld([
      { name: 'late', script: { initialize: () => starting.passed, 'resources/list': () => lateList } },
    ])
    const functions = await world.functions(['local'])
    const listed = functions.call('list_mcp_resources', {})
    await reached.passed
    answers.open()
    expect(JSON.parse((await listed).output).resources.map(({ server }: { server: string }) => server)).toEqual([
      'a',
      'b',
    ])
    const early = await late.functions(['local'], { wait: 'none' })
    expect((await early.call('list_mcp_resources', {})).output).toBe('{"resources":[]}')
    expect(late.told).toMatchObject([{ code: 'not_connected' }])
    starting.open({
      protocolVersion: '2025-11-25',
      capabilities: { resources: {} },
      serverInfo: { name: 'late', version: '1' },
    })
    // Waits for the server, so that it is up.
    await early.call('list_mcp_resources', { server: 'late' })
    expect((await early.call('list_mcp_resources', {})).output).toContain('"server":"late"')
  })

  it('wait for the one server that is named', async () => {
    const starting = gate<JsonObject>()
    await using world = new FunctionWorld([
      {
        name: 'late',
        script: {
          initialize: () => starting.passed,
          'resources/read': () => ({ contents: [{ uri: 'x', text: 'there' }] }),
        },
      },
    ])
    const functions = await world.functions(['local'], { wait: 'none' })
    const read = functions.call('read_mcp_resource', { server: 'late', uri: 'x' })
    starting.open({
      protocolVersion: '2025-11-25',
      capabilities: { resources: {} },
      serverInfo: { name: 'late', version: '1' },
    })
    expect((await read).output).toContain('there')
  })

  it('start a server again that ended after the step', async () => {
    await using world = new FunctionWorld(NOTES)
    const functions = await world.functions(['a', 'b'])
    await world.server(serverKey('notes', 'a')).crash()
    const { output } = await functions.call('read_mcp_resource', { server: 'notes', environment_id: 'a', uri: 'x' })
    expect(output).toContain('of a')
  })

  it('take at most the time of a tool call of that server, or of the caller if that is less', async () => {
    const hang = { 'resources/read': () => new Promise<never>(() => {}) }
    await using world = new FunctionWorld([
      { name: 'hang', environment: 'a', script: hang },
      { name: 'brief', toolTimeoutMs: 20, script: hang },
    ])
    const functions = await world.functions(['a'])
    const read = (server: string, timeoutMs: number) =>
      functions.call('read_mcp_resource', { server, uri: 'hang://x' }, { timeoutMs })
    expect(await read('brief', 60_000)).toMatchObject({
      error: { code: 'timeout', data: { afterMs: 20 } },
      item: { server: 'brief', environment: null, status: 'failed' },
    })
    expect(await read('hang', 10)).toMatchObject({
      output: expect.stringContaining(
        'failed for `hang (environment a)` (hang://x): timed out awaiting resources/read',
      ),
      error: { code: 'timeout', data: { afterMs: 10 } },
    })
  })

  it('relay what a server refuses, and what it answers wrongly', async () => {
    const refusing = () => {
      throw new Refusal(-32002, 'Resource not found')
    }
    await using world = new FunctionWorld([
      { name: 'refusing', script: { 'resources/read': refusing, 'resources/templates/list': refusing } },
      { name: 'wrong', script: { 'resources/read': () => ({ content: [] }) } },
    ])
    const functions = await world.functions(['local'])
    const read = (server: string) => functions.call('read_mcp_resource', { server, uri: 'x' })
    expect(await read('refusing')).toMatchObject({
      output: 'resources/read failed: resources/read failed for `refusing` (x): Mcp error: -32002: Resource not found',
      error: { code: 'rpc_error' },
    })
    expect(await functions.call('list_mcp_resource_templates', { server: 'refusing' })).toMatchObject({
      output:
        'resources/templates/list failed: resources/templates/list failed for `refusing`: Mcp error: -32002: Resource not found',
    })
    expect(await read('wrong')).toMatchObject({ error: { code: 'protocol_violation' }, item: { status: 'failed' } })
  })

  it('refuse what is nested without end, and leave only its server out', async () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
    const answer = { resources: [{ uri: 'x', name: 'x', deep }] }
    await using world = new FunctionWorld([
      {
        name: 'bad',
        script: { 'resources/list': (_params, { server }) => (isStarting(server) ? { resources: [] } : answer) },
      },
      { name: 'good', script: { 'resources/list': () => ({ resources: [{ uri: 'y', name: 'y' }] }) } },
      { name: 'worse', script: { 'resources/read': () => ({ contents: [deep] }) } },
    ])
    const functions = await world.functions(['local'])
    expect((await functions.call('list_mcp_resources', {})).output).toBe(
      '{"resources":[{"server":"good","uri":"y","name":"y"}]}',
    )
    expect(world.told).toMatchObject([{ key: serverKey('bad'), code: 'protocol_violation' }])
    for (const [name, args] of [
      ['list_mcp_resources', { server: 'bad' }],
      ['read_mcp_resource', { server: 'worse', uri: 'x' }],
    ] as const) {
      expect(await functions.call(name, args)).toMatchObject({ error: { code: 'protocol_violation' } })
    }
  })

  it('refuse an answer that is larger than any message of a server may be', async () => {
    const half = 'x'.repeat(9 * 1024 * 1024)
    const big = {
      'resources/list': (_params: JsonObject, { server }: ScriptedRequest) => ({
        resources: isStarting(server) ? [] : [{ uri: half, name: 'big' }],
      }),
    }
    await using world = new FunctionWorld([
      { name: 'a', script: big },
      { name: 'b', script: big },
    ])
    const functions = await world.functions(['local'])
    expect(await functions.call('list_mcp_resources', {})).toMatchObject({
      error: { code: 'limit_exceeded' },
      item: { server: 'codex', environment: null, status: 'failed' },
    })
    expect((await functions.call('list_mcp_resources', { server: 'a' })).error).toBeUndefined()
  })

  it('end with the caller, whether one server is asked or all', async () => {
    await using world = new FunctionWorld([
      {
        name: 'hang',
        script: {
          'resources/list': (_params, { server }) =>
            isStarting(server) ? { resources: [] } : new Promise<never>(() => {}),
        },
      },
    ])
    const functions = await world.functions(['local'])
    for (const args of ['{}', '{"server":"hang"}']) {
      const controller = new AbortController()
      const call = functions.call('list_mcp_resources', args, { signal: controller.signal })
      controller.abort()
      await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    }
  })
})

/** The first listing is the connection's own. */
function isStarting(server: ScriptedServer): boolean {
  return server.count('resources/list') === 1
}

function counting({ cursor }: JsonObject): JsonObject {
  if (cursor === undefined) return { resources: [] }
  return { resources: [], nextCursor: String(Number(cursor) + 1) }
}
