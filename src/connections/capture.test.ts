import { describe, expect, it } from 'vitest'
import { listing, tool } from '../../test/fixtures/connections/harness.js'
import {
  ManagerHarness,
  type ManagerHarnessOptions,
  MemoryCache,
} from '../../test/fixtures/connections/manager-harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { gate, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { serverKey } from '../identity/index.js'
import type { CaptureOptions } from './capture-wait.js'
import type { CapturedServer } from './captured.js'

const HANGING: Record<string, Script> = { initialize: () => new Promise(() => {}) }
const BROKEN: Record<string, Script> = {
  'tools/list': () => {
    throw new Refusal(-32603, 'broken')
  },
}

/** `name: tools`, those that are not live in brackets. */
function shown(servers: readonly CapturedServer[]): string[] {
  return servers.map(({ key, tools, live }) => {
    const names = tools.map(({ name }) => name).join(' ')
    return `${key.name}: ${live ? names : `(${names})`}`
  })
}

/** Starts a capture and tells how long it takes on the standing clock. */
async function timed(harness: ManagerHarness, options?: CaptureOptions): Promise<{ ms: number; shown: string[] }> {
  const began = harness.timers.now()
  let result: readonly CapturedServer[] | undefined
  const capture = harness.manager.capture(options).then((servers) => {
    result = servers
  })
  await settle()
  while (result === undefined && harness.timers.next !== undefined) await harness.timers.advance(harness.timers.next)
  await capture
  return { ms: harness.timers.now() - began, shown: shown(result ?? []) }
}

/** A cache that knows these servers with what the scripts say. */
async function cacheOf(
  options: ManagerHarnessOptions,
  ...servers: Parameters<ManagerHarness['up']>
): Promise<MemoryCache> {
  const cache = new MemoryCache()
  const harness = await new ManagerHarness({ ...options, cache }).up(...servers)
  await harness.manager.close()
  return cache
}

describe('a capture', () => {
  it('waits a second for optional servers, all together and once', async () => {
    const harness = new ManagerHarness({ scripts: { a: HANGING, b: HANGING } })
    harness.manager.replace([stdioServer('a'), stdioServer('b')])
    expect(await timed(harness)).toEqual({ ms: 1000, shown: ['a: ()', 'b: ()'] })
    expect((await timed(harness)).ms).toBe(0)
    expect(harness.manager.statuses().map(({ status }) => status)).toEqual(['starting', 'starting'])
  })

  it('waits no longer than the startups take', async () => {
    const harness = new ManagerHarness({ scripts: { a: listing(tool('t')) } })
    harness.manager.replace([stdioServer('a')])
    expect(await timed(harness)).toEqual({ ms: 0, shown: ['a: t'] })
  })

  it('takes a grace of its own, and with 0 waits for the startup', async () => {
    const short = new ManagerHarness({ scripts: { a: HANGING }, graceMs: 250 })
    short.manager.replace([stdioServer('a')])
    expect((await timed(short)).ms).toBe(250)
    const patient = new ManagerHarness({ scripts: { a: HANGING }, graceMs: 0 })
    patient.manager.replace([stdioServer('a', { startupTimeoutMs: 7000 })])
    expect((await timed(patient)).ms).toBe(7000)
  })

  it('gets a new grace with a new set', async () => {
    const harness = new ManagerHarness({ scripts: { a: HANGING } })
    harness.manager.replace([stdioServer('a')])
    await timed(harness)
    harness.manager.replace([stdioServer('a')])
    expect((await timed(harness)).ms).toBe(1000)
  })

  it('waits for what is required until its startup ends, and for nobody else', async () => {
    const harness = new ManagerHarness({ scripts: { a: HANGING, b: HANGING } })
    harness.manager.replace([stdioServer('a', { required: true, startupTimeoutMs: 5000 }), stdioServer('b')])
    expect((await timed(harness)).ms).toBe(5000)
    const asked = new ManagerHarness({ scripts: { a: HANGING, b: HANGING } })
    asked.manager.replace([stdioServer('a', { startupTimeoutMs: 5000 }), stdioServer('b')])
    expect((await timed(asked, { required: [serverKey('a')] })).ms).toBe(5000)
  })

  it('waits for nothing, or for everything, when told so', async () => {
    const harness = new ManagerHarness({ scripts: { a: HANGING } })
    harness.manager.replace([stdioServer('a', { startupTimeoutMs: 9000 })])
    expect((await timed(harness, { wait: 'none' })).ms).toBe(0)
    expect((await timed(harness, { wait: 'all' })).ms).toBe(9000)
  })

  it('ends with its caller, and the startup goes on', async () => {
    const harness = new ManagerHarness({ scripts: { a: HANGING } })
    harness.manager.replace([stdioServer('a')])
    const abort = new AbortController()
    const capture = harness.manager.capture({ signal: abort.signal })
    abort.abort()
    await expect(capture).rejects.toMatchObject({ code: 'cancelled' })
    expect(harness.manager.statuses()).toMatchObject([{ status: 'starting' }])
  })

  it('is of the newest set, also when that was published meanwhile', async () => {
    const harness = new ManagerHarness({ scripts: { a: HANGING, b: listing(tool('t')) } })
    harness.manager.replace([stdioServer('a')])
    const capture = harness.manager.capture()
    await settle()
    harness.manager.replace([stdioServer('b')])
    await harness.timers.advance(1000)
    expect(shown(await capture)).toEqual(['b: t'])
  })

  it('lists in the order of the servers, without those switched off', async () => {
    const harness = await new ManagerHarness().up(
      stdioServer('z'),
      stdioServer('off', { enabled: false }),
      stdioServer('a'),
    )
    expect(shown(await harness.manager.capture())).toEqual(['z: ', 'a: '])
  })

  it('is frozen: a later list does not change it', async () => {
    const offered = { tools: [tool('a')] }
    const harness = await new ManagerHarness({
      scripts: { s: { 'tools/list': () => ({ tools: [...offered.tools] }) } },
    }).up(stdioServer('s'))
    const [before] = await harness.manager.capture()
    offered.tools = [tool('b')]
    await harness.server('s').notify('notifications/tools/list_changed')
    await harness.timers.advance(50)
    const [after] = await harness.manager.capture()
    expect([before?.catalogRevision, after?.catalogRevision]).toEqual([1, 2])
    expect(shown([before, after].filter((server) => server !== undefined))).toEqual(['s: a', 's: b'])
    expect(Object.isFrozen(before) && Object.isFrozen(before?.tools) && Object.isFrozen(before?.tools[0])).toBe(true)
  })
})

describe('a server that the cache knows', () => {
  const annotated = tool('a', { annotations: { readOnlyHint: true, destructiveHint: false } })
  const known = () => cacheOf({ scripts: { s: listing(annotated, tool('b')) } }, stdioServer('s'))

  it('is offered at once, filtered, and not as read-only', async () => {
    const harness = new ManagerHarness({ cache: await known(), scripts: { s: HANGING } })
    harness.manager.replace([stdioServer('s', { disabledTools: ['b'] })])
    expect((await timed(harness)).ms).toBe(0)
    const [captured] = await harness.manager.capture()
    expect(captured).toMatchObject({ live: false, client: undefined, catalogRevision: undefined })
    expect(captured?.tools).toEqual([tool('a', { annotations: { destructiveHint: false } })])
    expect(captured?.inventory?.tools[0]).toEqual(annotated)
    expect(harness.manager.statuses()).toMatchObject([{ status: 'starting', cached: true, tools: 1 }])
  })

  it('has its own tools as soon as it is up, and says so', async () => {
    const harness = new ManagerHarness({ cache: await known(), scripts: { s: listing(annotated, tool('c')) } })
    harness.manager.replace([stdioServer('s')])
    expect(shown(await harness.manager.capture({ wait: 'none' }))).toEqual(['s: (a b)'])
    await harness.manager.capture({ wait: 'all' })
    await settle()
    const [captured] = await harness.manager.capture()
    expect(shown(captured === undefined ? [] : [captured])).toEqual(['s: a c'])
    expect(captured?.tools[0]).toEqual(annotated)
    expect(harness.inventoryChanges).toEqual(['s tools', 's tools'])
  })

  it('is not offered any more once its startup failed, and says so', async () => {
    const harness = new ManagerHarness({ cache: await known(), scripts: { s: BROKEN } })
    harness.manager.replace([stdioServer('s')])
    await harness.manager.capture({ wait: 'all' })
    await settle()
    const [captured] = await harness.manager.capture()
    expect(captured).toMatchObject({ live: false, tools: [], error: { code: 'startup_failed' } })
    expect(harness.inventoryChanges).toEqual(['s tools', 's tools'])
    expect(harness.manager.statuses()).toMatchObject([{ cached: false }])
  })

  it('is waited for when required, unless a catalog is enough for it', async () => {
    const patient = new ManagerHarness({ cache: await known(), scripts: { s: HANGING } })
    patient.manager.replace([stdioServer('s', { required: true, startupTimeoutMs: 4000 })])
    expect((await timed(patient)).ms).toBe(4000)
    const content = new ManagerHarness({ cache: await known(), scripts: { s: HANGING } })
    content.manager.replace([stdioServer('s', { required: true, startupReadiness: 'catalog' })])
    expect((await timed(content)).ms).toBe(0)
  })

  it('is another one when its command changes', async () => {
    const harness = new ManagerHarness({ cache: await known(), scripts: { s: HANGING } })
    harness.manager.replace([stdioServer('s', {}, { command: 'other' })])
    expect(shown(await harness.manager.capture({ wait: 'none' }))).toEqual(['s: ()'])
  })

  it('is kept again after every change, and never where its tools may depend on who asks', async () => {
    const cache = new MemoryCache()
    const offered = { tools: [tool('a')] }
    const script: Record<string, Script> = { 'tools/list': () => ({ tools: [...offered.tools] }) }
    const harness = await new ManagerHarness({ cache, scripts: { s: script } }).up(
      stdioServer('s'),
      httpServer('helped', {}, { httpHeadersHelper: 'x' }),
      httpServer('scoped', { scopes: ['read'] }),
    )
    offered.tools = [tool('b')]
    await harness.server('s').notify('notifications/tools/list_changed')
    await harness.timers.advance(50)
    expect(cache.puts).toEqual(['s', 's'])
    expect([...cache.entries.values()].map(({ inventory }) => inventory.tools)).toEqual([[tool('b')]])
  })

  it('is not offered with what nobody here wrote into the cache', async () => {
    const tools = [null, 'x', {}, { name: 7 }, []].map((odd) => [tool('a'), odd])
    for (const planted of [...tools, 'tools', undefined]) {
      const cache = await known()
      for (const [identity, { inventory }] of cache.entries) {
        const damaged = JSON.parse(JSON.stringify({ ...inventory, tools: planted }))
        cache.entries.set(identity, { inventory: damaged, storedAt: 0 })
      }
      const harness = new ManagerHarness({ cache, scripts: { s: HANGING } })
      harness.manager.replace([stdioServer('s')])
      expect(shown(await harness.manager.capture({ wait: 'none' }))).toEqual(['s: ()'])
    }
  })

  it('works all the same when the cache can not be written', async () => {
    const cache = new MemoryCache()
    cache.put = () => {
      throw new Error('disk full')
    }
    const harness = await new ManagerHarness({ cache, scripts: { s: listing(tool('a')) } }).up(stdioServer('s'))
    expect(shown(await harness.manager.capture())).toEqual(['s: a'])
    expect(harness.events).toContainEqual(
      expect.objectContaining({ type: 'warning', message: "MCP server 's': disk full" }),
    )
  })
})

describe('a server that crashed', () => {
  it('is offered as before while it is restarted, and no more when that fails', async () => {
    const restarted = gate()
    const harness = await new ManagerHarness({
      scripts: {
        s: (attempt) =>
          attempt === 0
            ? listing(tool('a', { annotations: { readOnlyHint: true } }))
            : { 'tools/list': () => restarted.passed.then(() => Promise.reject(new Refusal(-32603, 'broken'))) },
      },
    }).up(stdioServer('s'))
    await settle()
    harness.events.length = 0
    await harness.server('s').crash()
    await settle()
    const [waiting] = await harness.manager.capture()
    expect(waiting).toMatchObject({ live: false, client: undefined })
    expect(waiting?.tools).toEqual([tool('a', { annotations: { readOnlyHint: true } })])
    await harness.timers.advance(1000)
    expect(shown(await harness.manager.capture())).toEqual(['s: (a)'])
    expect(harness.inventoryChanges).toEqual([])
    restarted.open()
    await settle()
    expect(shown(await harness.manager.capture())).toEqual(['s: ()'])
    expect(harness.inventoryChanges).toEqual(['s tools'])
    await harness.timers.advance(60_000)
    expect(harness.inventoryChanges).toEqual(['s tools'])
  })

  it('is offered again, and says so, when a later attempt succeeds', async () => {
    const harness = await new ManagerHarness({
      scripts: { s: (attempt) => (attempt === 1 ? BROKEN : listing(tool('a'))) },
    }).up(stdioServer('s'))
    await settle()
    harness.events.length = 0
    await harness.server('s').crash()
    await harness.timers.advance(3000)
    expect(shown(await harness.manager.capture())).toEqual(['s: a'])
    expect(harness.inventoryChanges).toEqual(['s tools', 's tools'])
  })
})
