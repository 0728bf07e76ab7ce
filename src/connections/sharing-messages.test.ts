import { describe, expect, it } from 'vitest'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { modern } from '../../test/fixtures/connections/modern-script.js'
import { gate, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { holding, SharingHarness } from '../../test/fixtures/connections/sharing-harness.js'
import type { JsonObject, JsonRpcMessage } from '../protocol/index.js'

const UNASKABLE = { profile: { clientInfo: {}, capabilities: {} } }
const ROOTED = { profile: { clientInfo: {}, capabilities: { roots: {}, elicitation: {} } } }
const ACCEPTING: Record<string, Script> = {
  'logging/setLevel': () => ({}),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
}

const log = (level: string) => ({ level, data: level })

describe('what a shared server says beside any call', () => {
  it('comes to each session down to its own level, and the server is asked for the most verbose', async () => {
    const harness = new SharingHarness(stdioServer('s'), { script: ACCEPTING })
    const [a, b, c] = [await harness.holder('a'), await harness.holder('b'), await harness.holder('c')]
    const levels = () =>
      harness
        .process()
        .received.flatMap((message) =>
          'method' in message && message.method === 'logging/setLevel' ? [message.params?.level] : [],
        )
    const say = async () => {
      for (const holder of [a, b, c]) holder.events.length = 0
      for (const level of ['debug', 'info', 'error']) {
        await harness.process().notify('notifications/message', log(level))
      }
      await settle()
      return [a, b, c].map(({ heard }) => heard.join(' '))
    }
    expect(await say()).toEqual(['debug info error', 'debug info error', 'debug info error'])
    await a.request('logging/setLevel', { level: 'error' })
    expect([levels(), await say()]).toEqual([['info'], ['error', 'debug info error', 'debug info error']])
    await b.request('logging/setLevel', { level: 'debug' })
    expect([levels(), await say()]).toEqual([
      ['info', 'debug'],
      ['error', 'debug info error', 'info error'],
    ])
    await b.manager.close()
    await settle()
    expect(levels()).toEqual(['info', 'debug', 'info'])
    await c.manager.close()
    await settle()
    expect(levels().at(-1)).toBe('error')
    const d = await harness.holder('d')
    await settle()
    expect([levels().at(-1), d.transitions]).toEqual(['info', ['ready']])
  })

  it('of its log comes to the session whose call it is, once one of them asked for a level', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script: { ...ACCEPTING, ...script } })
    const [a, b] = [await harness.holder('a', UNASKABLE), await harness.holder('b', UNASKABLE)]
    const say = (data: string) => harness.process().notify('notifications/message', { level: 'error', data })
    for (const holder of [a, b]) await holder.call({ by: 'bound' })
    const together = [a.call({ by: 'a1', hold: true }), b.call({ by: 'b1', hold: true })]
    await settle()
    expect(harness.calls().slice(2)).toEqual(['a1', 'b1'])
    await a.request('logging/setLevel', { level: 'error' })
    const late = [a.call({ by: 'a2', hold: true }), b.call({ by: 'b2', hold: true })]
    for (const name of ['a1', 'b1']) letGo(name)
    await Promise.all(together)
    await settle()
    await say('of a')
    letGo('a2')
    await settle()
    await say('of b')
    letGo('b2')
    await Promise.all(late)
    expect([harness.calls().slice(4), a.heard, b.heard]).toEqual([['a2', 'b2'], ['of a'], ['of b']])
  })

  it('leaves a level that the server refuses with the one who asked for it', async () => {
    const refusing: Record<string, Script> = {
      'logging/setLevel': ({ level }) => {
        if (level === 'debug') throw new Refusal(-32602, 'too much')
        return {}
      },
    }
    const harness = new SharingHarness(stdioServer('s'), { script: refusing })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await expect(a.request('logging/setLevel', { level: 'debug' })).rejects.toMatchObject({ rpcCode: -32602 })
    await b.request('logging/setLevel', { level: 'error' })
    await harness.process().notify('notifications/message', log('info'))
    await settle()
    expect([a.heard, b.heard]).toEqual([['info'], []])
  })

  it('comes to those who subscribed, who are counted', async () => {
    const harness = new SharingHarness(stdioServer('s'), { script: ACCEPTING })
    const [a, b, c] = [await harness.holder('a'), await harness.holder('b'), await harness.holder('c')]
    const count = (method: string) => harness.process().count(`resources/${method}`)
    const updated = (uri: string) => harness.process().notify('notifications/resources/updated', { uri })
    await a.request('resources/subscribe', { uri: 'file:///notes' })
    await b.request('resources/subscribe', { uri: 'file:///notes' })
    expect(count('subscribe')).toBe(1)
    for (const uri of ['file:///notes', 'file:///notes/one', 'file:///notesandmore', 'file:///others'])
      await updated(uri)
    await a.request('resources/unsubscribe', { uri: 'file:///notes' })
    await updated('file:///notes')
    await settle()
    expect([a.heard, b.heard, c.heard]).toEqual([
      ['file:///notes', 'file:///notes/one'],
      ['file:///notes', 'file:///notes/one', 'file:///notes'],
      [],
    ])
    expect(count('unsubscribe')).toBe(0)
    await b.manager.close()
    await settle()
    expect(count('unsubscribe')).toBe(1)
  })

  it('about its lists comes to all', async () => {
    const harness = new SharingHarness(stdioServer('s'), {
      script: { 'tools/list': (_params, { server }) => ({ tools: [tool(String(server.count('tools/list')))] }) },
    })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await harness.process().notify('notifications/tools/list_changed')
    await harness.timers.advance(50)
    for (const holder of [a, b]) {
      expect(holder.events).toContainEqual(expect.objectContaining({ type: 'inventory_changed', what: 'tools' }))
    }
    expect(harness.process().count('tools/list')).toBe(2)
  })

  it('of a task or an elicitation comes to the one whose it is, and to nobody when that one left', async () => {
    let tasks = 0
    const harness = new SharingHarness(stdioServer('s'), {
      script: {
        'tools/call': () => ({ task: { taskId: `task ${++tasks}`, status: 'working' } }),
        'tasks/list': () => ({ tasks: [1, 2].map((number) => ({ taskId: `task ${number}` })) }),
      },
    })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await a.call({ by: 'a' })
    await b.call({ by: 'b' })
    const ofTask = (taskId: string) => ({ _meta: { 'io.modelcontextprotocol/related-task': { taskId } } })
    const { process } = harness
    const server = process.call(harness)
    await server.notify('notifications/tasks/status', { taskId: 'task 1', data: 'status of a' })
    expect(await server.ask('elicitation/create', { ...ofTask('task 2'), elicitationId: 'e' })).toMatchObject({
      result: { by: 'b' },
    })
    await server.notify('notifications/elicitation/complete', { elicitationId: 'e', data: 'complete for b' })
    expect(await a.request('tasks/list')).toEqual({ tasks: [{ taskId: 'task 1' }] })
    await settle()
    expect([a.heard, b.heard]).toEqual([['status of a'], ['complete for b']])
    await a.manager.close()
    await server.notify('notifications/tasks/status', { taskId: 'task 1', data: 'status of a' })
    expect(await server.ask('elicitation/create', ofTask('task 1'))).toMatchObject({ error: { code: -32601 } })
    await settle()
    expect(b.heard).toEqual(['complete for b'])
  })
})

describe('the log of a modern server that is shared on one pipe', () => {
  it('comes to the session whose call asked for it; setting a level waits for nobody', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), {
      script: modern(script, { capabilities: { tools: {}, logging: {} } }),
    })
    const [a, b, c] = [await harness.holder('a'), await harness.holder('b'), await harness.holder('c')]
    for (const holder of [a, b, c]) await holder.call({ by: 'bound' })
    await a.request('logging/setLevel', { level: 'info' })
    const running = [a.call({ by: 'a', hold: true }), b.call({ by: 'b', hold: true }), c.call({ by: 'c', hold: true })]
    await settle()
    expect(await b.request('logging/setLevel', { level: 'debug' })).toEqual({})
    await c.request('tools/list')
    const say = (data: string) => harness.process().notify('notifications/message', { level: 'info', data })
    await say('of a')
    letGo('a')
    await settle()
    expect(harness.calls().slice(3)).toEqual(['a', 'b'])
    await say('of b')
    letGo('b')
    await settle()
    letGo('c')
    await Promise.all(running)
    expect([a.heard, b.heard, c.heard]).toEqual([['of a'], ['of b'], []])
    expect(harness.opened).toHaveLength(1)
  })

  it('lets another session go first while the user of one is asked', async () => {
    const { script, letGo } = holding()
    const asking: Record<string, Script> = {
      'tools/call': (params, context) => {
        const { by } = params.arguments as JsonObject
        if (by !== 'a' || params.inputResponses !== undefined) return script['tools/call']?.(params, context) ?? {}
        return { resultType: 'input_required', inputRequests: { q: { method: 'elicitation/create', params: {} } } }
      },
    }
    const answered = gate<void>()
    const harness = new SharingHarness(stdioServer('s'), { script: modern(asking) })
    const onRequest = async () => {
      await answered.passed
      return { action: 'accept' }
    }
    const [a, b] = [await harness.holder('a', { onRequest }), await harness.holder('b')]
    for (const holder of [a, b]) await holder.request('logging/setLevel', { level: 'info' })
    const waiting = a.call({ by: 'a' })
    await settle()
    const other = b.call({ by: 'b', hold: true })
    await settle()
    answered.open()
    await settle()
    expect(harness.calls()).toEqual(['a', 'b'])
    letGo('b')
    await Promise.all([other, waiting])
    expect(harness.calls()).toEqual(['a', 'b', 'a'])
  })
})

describe('a page that a shared server sends a session to', () => {
  it('is the business of that session alone', async () => {
    const harness = new SharingHarness(stdioServer('s'), {
      script: {
        'tools/call': ({ arguments: args }) => {
          const { by } = args as JsonObject
          throw new Refusal(-32042, 'log in first', { elicitations: [{ mode: 'url', elicitationId: `of ${by}` }] })
        },
      },
    })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    for (const holder of [a, b]) {
      await expect(holder.call({ by: holder.name })).rejects.toMatchObject({ rpcCode: -32042 })
    }
    for (const elicitationId of ['of b', 'of a']) {
      await harness.process().notify('notifications/elicitation/complete', { elicitationId, data: elicitationId })
    }
    await settle()
    expect([a.heard, b.heard]).toEqual([['of a'], ['of b']])
  })
})

describe('what a shared server asks', () => {
  it('for a call that was given up is still asked there, and no other call is sent before', async () => {
    const { script } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script: { ...script, ping: () => new Promise(() => {}) } })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await b.call({ by: 'bound' })
    const leaving = new AbortController()
    const given = a.call({ by: 'a', hold: true }, { signal: leaving.signal })
    await settle()
    leaving.abort()
    await expect(given).rejects.toMatchObject({ code: 'cancelled' })
    const waiting = b.call({ by: 'b' })
    await settle()
    expect(harness.process().count('ping')).toBe(1)
    expect(await harness.process().ask('elicitation/create')).toMatchObject({ result: { by: 'a' } })
    expect(harness.calls()).toEqual(['bound', 'a'])
    const ping = harness.process().received.find((message) => 'method' in message && message.method === 'ping')
    if (ping === undefined || !('id' in ping)) throw new Error('no ping')
    await harness.process().transport.send({ jsonrpc: '2.0', id: Number(ping.id), result: {} })
    expect(await waiting).toEqual({ did: 'b' })
  })

  it('before it is up is asked of the session that needed it', async () => {
    const asking: Record<string, Script> = {
      'tools/list': async (_params, { server }) => {
        const answer = await server.ask('elicitation/create')
        return { tools: [], _meta: { answer: 'result' in answer ? answer.result : null } }
      },
    }
    const harness = new SharingHarness(stdioServer('s'), { script: asking })
    const [a, b] = await Promise.all([harness.holder('a'), harness.holder('b')])
    expect([a.asked.length, b.asked.length, harness.opened.length]).toEqual([1, 0, 1])
    await harness.process().crash()
    await settle()
    await b.request('ping')
    expect([a.asked.length, b.asked.length]).toEqual([1, 1])
  })

  it('over HTTP without a stream goes to the only one with a call out; with several it is refused, and they take turns then', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(httpServer('s'), { script })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    const both = [a.call({ by: 'a', hold: true }), b.call({ by: 'b', hold: true })]
    await settle()
    expect(await harness.process().ask('elicitation/create')).toMatchObject({ error: { code: -32603 } })
    letGo('a')
    letGo('b')
    await Promise.all(both)
    const first = a.call({ by: 'a2', hold: true })
    await settle()
    const second = b.call({ by: 'b2' })
    await settle()
    expect(await harness.process().ask('elicitation/create')).toMatchObject({ result: { by: 'a' } })
    expect(harness.calls()).toEqual(['a', 'b', 'a2'])
    letGo('a2')
    await Promise.all([first, second])
  })

  it('of roots beside any call binds it to sessions with those roots; others get servers of their own', async () => {
    const harness = new SharingHarness(stdioServer('s'), { script: ROOTS_ASKING })
    const [one, two] = [['file:///one'], ['file:///two']]
    const a = await harness.holder('a', ROOTED, one)
    const b = await harness.holder('b', ROOTED, one)
    const c = await harness.holder('c', ROOTED, two)
    await Promise.all([a, b, c].map((holder) => holder.call({ by: holder.name })))
    expect([harness.calls(0), harness.calls(1)]).toEqual([['a', 'b'], ['c']])
    expect(harness.opened.map(({ received }) => received.flatMap(rootsTold))).toEqual([one, two])

    b.roots = two
    await b.notify('notifications/roots/list_changed')
    await Promise.all([a, b].map((holder) => holder.call({ by: holder.name })))
    expect([harness.calls(0), harness.calls(2)]).toEqual([['a', 'b', 'a'], ['b']])
    expect(harness.process(0).count('notifications/roots/list_changed')).toBe(0)

    a.roots = two
    await a.notify('notifications/roots/list_changed')
    await settle()
    await a.call({ by: 'a' })
    expect(harness.calls(0)).toEqual(['a', 'b', 'a', 'a'])
    expect(harness.process(0).received.flatMap(rootsTold)).toEqual([...one, ...two])
  })

  it('of roots after a restart is answered by any that has them', async () => {
    const harness = new SharingHarness(stdioServer('s'), { script: ROOTS_ASKING })
    const holders = [await harness.holder('a', ROOTED, ['file:///x']), await harness.holder('b', ROOTED, ['file:///x'])]
    await Promise.all(holders.map((holder) => holder.call({ by: holder.name })))
    await harness.process().crash()
    await harness.timers.advance(1_000)
    expect(harness.process(1).received.flatMap(rootsTold)).toEqual(['file:///x'])
  })
})

const ROOTS_ASKING: Record<string, Script> = {
  'tools/list': (_params, { server }) => {
    void server.ask('roots/list')
    server.onNotified('notifications/roots/list_changed', () => void server.ask('roots/list'))
    return { tools: [tool('work')] }
  },
}

function rootsTold(message: JsonRpcMessage): unknown[] {
  const roots = 'result' in message ? message.result.roots : undefined
  return Array.isArray(roots) ? roots.map((root) => (root as JsonObject).uri) : []
}

function tool(name: string): JsonObject {
  return { name, inputSchema: { type: 'object' } }
}
