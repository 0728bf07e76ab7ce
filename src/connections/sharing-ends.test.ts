import { describe, expect, it } from 'vitest'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { gate, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { holding, SharingHarness } from '../../test/fixtures/connections/sharing-harness.js'

const HOUR = 3_600_000

describe('a session that ends', () => {
  it('ends its own calls, sent or waiting, and no other', async () => {
    const { script } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script })
    const [a, b, c] = [await harness.holder('a'), await harness.holder('b'), await harness.holder('c')]
    await b.call({ by: 'b' })
    await c.call({ by: 'c' })
    const running = a.call({ by: 'a', hold: true })
    await settle()
    const waiting = [b, c].map((holder) => holder.call({ by: `${holder.name}2` }))
    const refused = expect(waiting[0]).rejects.toMatchObject({ code: 'closed' })
    await settle()
    await b.manager.close()
    await refused
    const cut = expect(running).rejects.toMatchObject({ code: 'transport_closed', sent: true })
    await a.manager.close()
    await cut
    expect(await waiting[1]).toEqual({ did: 'c2' })
    expect([harness.process().count('notifications/cancelled'), harness.process().closed]).toEqual([1, false])
    await c.manager.close()
    expect(harness.process().closed).toBe(true)
  })

  it('is asked nothing any more, and hears nothing', async () => {
    const { script } = holding()
    const harness = new SharingHarness(stdioServer('s'), { script })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    a.call({ by: 'a', hold: true }).catch(() => {})
    await settle()
    await a.manager.close()
    await settle()
    expect(await harness.process().ask('elicitation/create')).toMatchObject({ error: { code: -32601 } })
    await harness.process().notify('notifications/message', { level: 'info', data: 'for a' })
    await settle()
    expect([a.asked, b.asked, a.heard, b.heard]).toEqual([[], [], [], []])
  })

  it('ends the server of its own that was only coming up', async () => {
    const { script } = holding()
    const hanging: Record<string, Script> = { initialize: () => new Promise(() => {}) }
    const harness = new SharingHarness(stdioServer('s'), { script: (attempt) => (attempt === 0 ? script : hanging) })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    a.call({ by: 'a', hold: true }).catch(() => {})
    await settle()
    const waiting = expect(b.call({ by: 'b' })).rejects.toMatchObject({ code: 'closed' })
    await harness.timers.advance(250)
    expect(harness.opened).toHaveLength(2)
    await b.manager.close()
    await waiting
    expect([harness.process(0).closed, harness.process(1).closed]).toEqual([false, true])
  })

  it('during a startup that others wait for too leaves it to them', async () => {
    const up = gate()
    const harness = new SharingHarness(stdioServer('s'), {
      script: { 'tools/list': () => up.passed.then(() => ({ tools: [] })) },
    })
    const [a, b] = [harness.waiting('a'), harness.waiting('b')]
    await settle()
    await a.manager.close()
    up.open()
    await b.manager.capture({ wait: 'all' })
    expect([a.transitions, b.transitions, harness.opened.length]).toEqual([['starting'], ['starting', 'ready'], 1])
  })

  it('cancels no startup that others wait for', async () => {
    const hanging: Record<string, Script> = { 'tools/list': () => new Promise(() => {}) }
    const harness = new SharingHarness(stdioServer('s'), { script: (attempt) => (attempt === 0 ? hanging : {}) })
    harness.waiting('a')
    const b = harness.waiting('b')
    await settle()
    b.manager.cancelStartups()
    await settle()
    expect(b.manager.statuses()).toMatchObject([{ status: 'starting' }])
  })
})

describe('a shared server that crashes', () => {
  it.each([
    ['stdio', stdioServer('s')],
    ['HTTP', httpServer('s')],
  ])('over %s fails the calls that are out, tells each session once, and comes up once', async (_what, server) => {
    const { script } = holding()
    const harness = new SharingHarness(server, { script })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await Promise.all([a.call({ by: 'a' }), b.call({ by: 'b' })])
    const cut = expect(a.call({ by: 'a2', hold: true })).rejects.toMatchObject({ code: 'transport_closed', sent: true })
    await settle()
    const next = b.call({ by: 'b2' })
    await settle()
    if (server.config.transport.type === 'stdio') expect(harness.calls()).toEqual(['a', 'b', 'a2'])
    await harness.process().crash()
    await cut
    expect(await next).toEqual({ did: 'b2' })
    expect(await a.call({ by: 'a3' })).toEqual({ did: 'a3' })
    await harness.timers.advance(HOUR)
    expect(harness.opened).toHaveLength(2)
    expect([a.transitions, b.transitions]).toEqual([
      ['starting', 'ready', 'failed', 'starting', 'ready'],
      ['ready', 'failed', 'starting', 'ready'],
    ])
  })

  it('is had by a newcomer with those who wait for it', async () => {
    const harness = new SharingHarness(stdioServer('s'))
    const a = await harness.holder('a')
    await harness.process().crash()
    await settle()
    expect(a.transitions.at(-1)).toBe('failed')
    await harness.holder('b')
    expect(a.transitions.at(-1)).toBe('ready')
    await harness.timers.advance(HOUR)
    expect(harness.opened).toHaveLength(2)
  })
})

describe('a shared server that nobody holds', () => {
  it('ends at once where nothing else is said', async () => {
    const harness = new SharingHarness(stdioServer('s'))
    await (await harness.holder('a')).manager.close()
    expect(harness.process().closed).toBe(true)
  })

  it('stays up for the next one, who finds it as it is, and ends after its time', async () => {
    const harness = new SharingHarness(stdioServer('s'), { idleMs: 60_000 })
    const [a, b] = [await harness.holder('a'), await harness.holder('b')]
    await a.manager.close()
    await harness.timers.advance(HOUR)
    await b.manager.close()
    await harness.timers.advance(59_999)
    const c = await harness.holder('c')
    await harness.timers.advance(HOUR)
    expect(await c.call({ by: 'c' })).toEqual({ did: { by: 'c' } })
    expect([harness.opened.length, harness.process().count('tools/list'), c.transitions]).toEqual([1, 1, ['ready']])
    await c.manager.close()
    await harness.timers.advance(60_000)
    expect(harness.process().closed).toBe(true)
    await harness.holder('d')
    expect(harness.opened).toHaveLength(2)
  })

  it('and that ends meanwhile stays down until somebody comes', async () => {
    const harness = new SharingHarness(stdioServer('s'), { idleMs: 60_000 })
    await (await harness.holder('a')).manager.close()
    await harness.process().crash()
    await harness.timers.advance(HOUR)
    expect(harness.opened).toHaveLength(1)
    expect((await harness.holder('b')).transitions).toEqual(['starting', 'ready'])
    expect(harness.opened).toHaveLength(2)
  })

  it('is not kept where it is not shared, not up, or the runtime ends', async () => {
    const isolated = new SharingHarness(stdioServer('s', { sharing: 'isolated' }), { idleMs: 60_000 })
    await (await isolated.holder('a')).manager.close()
    expect(isolated.process().closed).toBe(true)
    const ending = new SharingHarness(stdioServer('s'), { idleMs: 60_000 })
    await (await ending.holder('a')).manager.close()
    expect(ending.process().closed).toBe(false)
    await ending.pool.close()
    expect([ending.process().closed, ending.timers.waiting]).toEqual([true, 0])
  })
})
