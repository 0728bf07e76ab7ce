import { describe, expect, it } from 'vitest'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { gate, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { holding, SharingHarness } from '../../test/fixtures/connections/sharing-harness.js'
import type { JsonObject } from '../protocol/index.js'

describe('a server for several sessions', () => {
  it('is one process, started and listed once, and each session is told that it is up', async () => {
    const harness = new SharingHarness(stdioServer('s'))
    const holders = await Promise.all(['a', 'b', 'c'].map((name) => harness.holder(name)))
    expect(harness.opened).toHaveLength(1)
    expect(harness.process().count('tools/list')).toBe(1)
    for (const holder of holders) {
      expect(holder.transitions).toEqual(['starting', 'ready'])
      expect(await holder.call({ by: holder.name })).toEqual({ did: { by: holder.name } })
    }
    expect((await harness.holder('late')).transitions).toEqual(['ready'])
    expect(harness.opened).toHaveLength(1)
  })

  it.each<[string, Parameters<SharingHarness['holder']>[1]]>([
    ['capabilities', { profile: { clientInfo: {}, capabilities: { elicitation: { url: {} } } } }],
    ['value of a variable', { env: { TOKEN: 'other' } }],
    ['working directory', { fallbackCwd: '/elsewhere' }],
    ['principal', { sharing: { owner: 'somebody else', clientInfo: {} } }],
  ])('is another process for another %s', async (_what, options) => {
    const harness = new SharingHarness(stdioServer('s', {}, { envVars: ['TOKEN'] }))
    await harness.holder('a', { env: { TOKEN: 'one' } })
    await harness.holder('b', { env: { TOKEN: 'one' } })
    expect(harness.opened).toHaveLength(1)
    await harness.holder('c', { env: { TOKEN: 'one' }, ...options })
    expect(harness.opened).toHaveLength(2)
  })

  it('is told of the one that speaks for them all, and a session of its own of its client', async () => {
    const harness = new SharingHarness(stdioServer('s'))
    await harness.holder('a')
    const isolated = new SharingHarness(stdioServer('s', { sharing: 'isolated' }))
    await isolated.holder('b')
    await isolated.holder('c')
    const told = (server: SharingHarness, number = 0) =>
      server.process(number).received.find((message) => 'method' in message && message.method === 'initialize')
    expect(told(harness)).toMatchObject({ params: { clientInfo: { name: 'gateway' } } })
    expect([0, 1].map((number) => told(isolated, number))).toMatchObject([
      { params: { clientInfo: { name: 'b' } } },
      { params: { clientInfo: { name: 'c' } } },
    ])
  })
})

describe('calls of several sessions, over stdio', () => {
  it('wait for each other in line where the server may ask, and each is asked what its own call causes', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await Promise.all([a.call({ by: 'first' }), b.call({ by: 'first' })])
    const running = a.call({ by: 'a', hold: true }, { origin: 1 })
    await settle()
    const waiting = b.call({ by: 'b' }, { origin: 1 })
    await harness.timers.advance(10_000)
    expect(harness.calls()).toEqual(['first', 'first', 'a'])
    expect(await harness.process().ask('elicitation/create')).toMatchObject({ result: { by: 'a' } })
    await harness.process().notify('notifications/message', { level: 'info', data: 'for a' })
    await harness.process().notify('notifications/x/unknown', { data: 'for a too' })
    letGo('a')
    expect(await running).toEqual({ did: 'a' })
    expect(await waiting).toEqual({ did: 'b' })
    expect(a.asked).toMatchObject([{ method: 'elicitation/create', origin: 1 }])
    expect(b.asked).toEqual([])
    expect([a.heard, b.heard]).toEqual([['for a', 'for a too'], []])
    expect(harness.opened).toHaveLength(1)
  })

  it('overlap where nobody can be asked anything', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script })
    const mute = { profile: { clientInfo: {}, capabilities: {} } }
    const [a, b] = [await harness.holder('a', mute), await harness.holder('b', mute)]
    const running = a.call({ by: 'a', hold: true })
    await settle()
    await harness.process().notify('notifications/message', { level: 'info', data: 'a alone has a call out' })
    expect(await b.call({ by: 'b' })).toEqual({ did: 'b' })
    const other = b.call({ by: 'b2', hold: true })
    await settle()
    await harness.process().notify('notifications/message', { level: 'info', data: 'anybody' })
    letGo('a')
    letGo('b2')
    await Promise.all([running, other])
    expect([a.heard, b.heard]).toEqual([['a alone has a call out', 'anybody'], ['anybody']])
  })

  it('do not hold up listings', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    const running = a.call({ by: 'a', hold: true })
    await settle()
    expect(await b.request('tools/list')).toHaveProperty('tools')
    letGo('a')
    await running
  })

  it('that the client makes to answer a question go ahead of the line', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script })
    const b = await harness.holder('b')
    const a = await harness.holder('a', { onRequest: async () => a.call({ by: 'nested' }) })
    await b.call({ by: 'bound' })
    const running = a.call({ by: 'a', hold: true })
    await settle()
    const waiting = b.call({ by: 'b' })
    await settle()
    expect(await harness.process().ask('elicitation/create')).toMatchObject({ result: { did: 'nested' } })
    letGo('a')
    await Promise.all([running, waiting])
    expect(harness.calls()).toEqual(['bound', 'a', 'nested', 'b'])
  })

  it('wait no longer than their own time, or than their caller does', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await b.call({ by: 'bound' })
    const running = a.call({ by: 'a', hold: true })
    await settle()
    await expect(b.call({ by: 'b' }, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout', key: { name: 's' } })
    const leaving = new AbortController()
    const left = b.call({ by: 'b' }, { signal: leaving.signal })
    await settle()
    leaving.abort()
    await expect(left).rejects.toMatchObject({ code: 'cancelled' })
    letGo('a')
    await running
    await settle()
    expect(harness.calls()).toEqual(['bound', 'a'])
  })

  it('of one session get no older while another is asked, nor younger', async () => {
    const harness = new SharingHarness(httpServer('s'), { script: { 'tools/call': () => new Promise(() => {}) } })
    const answer = gate<JsonObject>()
    const a = await harness.holder('a', { onRequest: () => answer.passed })
    const b = await harness.holder('b')
    a.call({ by: 'a' }).catch(() => {})
    await settle()
    const asked = harness.process().ask('roots/list')
    await settle()
    await expect(b.call({ by: 'b' }, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout' })
    answer.open({})
    await asked
  })
})

describe('a session that would wait long', () => {
  it('gets a server of its own when it left nothing behind, and stays there', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    const running = a.call({ by: 'a', hold: true })
    await settle()
    const waiting = b.call({ by: 'b' })
    await harness.timers.advance(249)
    expect(harness.opened).toHaveLength(1)
    await harness.timers.advance(1)
    expect(await waiting).toEqual({ did: 'b' })
    letGo('a')
    await running
    await b.call({ by: 'b again' })
    expect([harness.calls(0), harness.calls(1)]).toEqual([['a'], ['b', 'b again']])
    expect(b.transitions).toEqual(['ready'])
    await b.manager.close()
    expect([harness.process(0).closed, harness.process(1).closed]).toEqual([false, true])
  })

  it('takes along what it set up, and asks for its own log level', async () => {
    const { script, letGo } = holding()
    const set: Record<string, Script> = { 'logging/setLevel': () => ({}), 'resources/subscribe': () => ({}) }
    const harness = new SharingHarness(stdioServer('s'), { script: { ...script, ...set } })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await b.request('logging/setLevel', { level: 'error' })
    await b.request('resources/subscribe', { uri: 'x:1' })
    const running = a.call({ by: 'a', hold: true })
    await settle()
    const waiting = b.call({ by: 'b' })
    await harness.timers.advance(250)
    await waiting
    const sent = harness
      .process(1)
      .received.flatMap((message) => ('method' in message && message.method in set ? [message.params] : []))
    expect(sent).toEqual([{ level: 'error' }, { uri: 'x:1' }])
    letGo('a')
    await running
  })

  it('goes on waiting when its own server does not come up, and says so', async () => {
    const { script, letGo } = holding()
    const broken: Record<string, Script> = { initialize: () => new Promise(() => {}) }
    const harness = new SharingHarness(stdioServer('s', { startupTimeoutMs: 500 }), {
      script: (attempt) => (attempt === 0 ? script : broken),
    })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    const running = a.call({ by: 'a', hold: true })
    await settle()
    const waiting = b.call({ by: 'b' })
    await harness.timers.advance(2_000)
    letGo('a')
    expect(await waiting).toEqual({ did: 'b' })
    await running
    expect(b.events).toContainEqual(
      expect.objectContaining({ type: 'warning', code: 'own_connection_failed', key: expect.anything() }),
    )
    expect(harness.process(1).closed).toBe(true)
    expect(b.transitions).toEqual(['ready'])
  })

  it('needs no server of its own when its turn comes first', async () => {
    const { script, letGo } = holding()
    const slow = gate()
    const harness = new SharingHarness(stdioServer('s'), {
      script: (attempt) =>
        attempt === 0
          ? script
          : { ...script, 'tools/list': () => slow.passed.then(() => ({ tools: [{ name: 'work', inputSchema: {} }] })) },
    })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    const running = a.call({ by: 'a', hold: true })
    await settle()
    const waiting = b.call({ by: 'b' })
    await harness.timers.advance(250)
    letGo('a')
    await Promise.all([running, waiting])
    expect(harness.calls()).toEqual(['a', 'b'])
    slow.open()
    await settle()
    expect(harness.process(1).closed).toBe(true)
  })

  it('keeps its calls bound to the tools that it captured', async () => {
    const { script, letGo } = holding()
    const harness = new SharingHarness(stdioServer('s'), {
      script: (attempt) => ({
        ...script,
        'tools/list': () => ({
          tools: [{ name: 'work', description: attempt === 0 ? 'as ever' : 'other', inputSchema: {} }],
        }),
      }),
    })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    const running = a.call({ by: 'a', hold: true })
    await settle()
    const refused = b.call({ by: 'b' })
    refused.catch(() => {})
    await harness.timers.advance(250)
    await expect(refused).rejects.toMatchObject({ code: 'stale_catalog' })
    expect(b.events).toContainEqual(expect.objectContaining({ type: 'inventory_changed', what: 'tools' }))
    expect(await b.call({ by: 'b' })).toEqual({ did: 'b' })
    letGo('a')
    await running
  })
})
