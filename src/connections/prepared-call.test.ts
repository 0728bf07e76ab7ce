import { describe, expect, it } from 'vitest'
import { listing, tool } from '../../test/fixtures/connections/harness.js'
import {
  ManagerHarness,
  type ManagerHarnessOptions,
  MemoryCache,
} from '../../test/fixtures/connections/manager-harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { FailingTransport, gate, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { stdioServer } from '../../test/fixtures/connections/servers.js'
import { TransportClosedError } from '../errors.js'
import type { JsonObject } from '../protocol/index.js'
import type { CapturedServer } from './captured.js'
import type { ReadyClient } from './types.js'

const CHANGED = 'notifications/tools/list_changed'

async function only(harness: ManagerHarness): Promise<CapturedServer> {
  const [captured] = await harness.manager.capture({ wait: 'none' })
  if (captured === undefined) throw new Error('nothing captured')
  return captured
}

/** One server `s` whose tools can be changed and whose calls echo what they got. */
async function echoing(...first: JsonObject[]) {
  const offered = { tools: first }
  const script: Record<string, Script> = {
    'tools/list': () => ({ tools: [...offered.tools] }),
    'tools/call': (params) => ({ got: params }),
  }
  const harness = await new ManagerHarness({ scripts: { s: script } }).up(stdioServer('s'))
  const relist = async (...tools: JsonObject[]) => {
    offered.tools = tools
    await harness.server('s').notify(CHANGED)
    await harness.timers.advance(50)
  }
  return { harness, relist }
}

describe('a prepared call', () => {
  it('sends the raw name, the arguments and the metadata, and nothing that is not there', async () => {
    const { harness } = await echoing(tool('raw.name'))
    const call = (await only(harness)).prepareCall('raw.name')
    expect(await call.run({})).toEqual({ got: { name: 'raw.name' } })
    expect(await call.run({ arguments: { a: null }, _meta: { b: 1 } })).toEqual({
      got: { name: 'raw.name', arguments: { a: null }, _meta: { b: 1 } },
    })
    expect(await harness.manager.invoke(call, { a: 1 }, undefined)).toEqual({
      got: { name: 'raw.name', arguments: { a: 1 } },
    })
  })

  it('is bound to the whole definition, the configuration and the key', async () => {
    const { harness } = await echoing(tool('a', { _meta: { x: 1 } }))
    const captured = await only(harness)
    const { binding } = captured.prepareCall('a')
    expect(binding).toMatchObject({ tool: 'a', live: true, definition: tool('a', { _meta: { x: 1 } }) })
    expect([binding.key, binding.config]).toEqual([captured.key, captured.config])
    expect(Object.isFrozen(binding)).toBe(true)
  })

  it.each<[string, JsonObject[]]>([
    ['description', [tool('a', { description: 'new' })]],
    ['schema', [tool('a', { inputSchema: { type: 'object', required: ['x'] } })]],
    ['annotations', [tool('a', { annotations: { readOnlyHint: true } })]],
    ['existence', [tool('b')]],
  ])('is refused when the %s of its tool changed, before anything is prepared', async (_what, tools) => {
    const { harness, relist } = await echoing(tool('a'))
    const call = (await only(harness)).prepareCall('a')
    await relist(...tools)
    let prepared = false
    const prepare = async () => {
      prepared = true
      return {}
    }
    await expect(call.run({}, { prepare })).rejects.toMatchObject({ code: 'stale_catalog', place: 's/a' })
    expect(prepared).toBe(false)
    expect(harness.server('s').count('tools/call')).toBe(0)
  })

  it('is not refused when other tools change, or when its own comes back equal', async () => {
    const { harness, relist } = await echoing(tool('a', { annotations: { title: 't' } }))
    const call = (await only(harness)).prepareCall('a')
    await relist({ annotations: { title: 't' }, ...tool('a') }, tool('b'))
    expect(await call.run({})).toEqual({ got: { name: 'a' } })
  })

  it('can not be made for a tool that was not there', async () => {
    const { harness } = await echoing(tool('a'))
    const captured = await only(harness)
    expect(() => captured.prepareCall('b')).toThrow(expect.objectContaining({ code: 'stale_catalog' }))
    expect(() => captured.prepareCall('__proto__')).toThrow(expect.objectContaining({ code: 'stale_catalog' }))
  })

  it('holds the catalog from its preparation to its end', async () => {
    const { harness, relist } = await echoing(tool('a'))
    const captured = await only(harness)
    const ready = gate()
    const running = captured.prepareCall('a').run(
      {},
      {
        prepare: async () => {
          await ready.passed
          return { arguments: { prepared: true } }
        },
      },
    )
    await settle()
    await relist(tool('b'))
    expect((await only(harness)).catalogRevision).toBe(1)
    ready.open()
    expect(await running).toEqual({ got: { name: 'a', arguments: { prepared: true } } })
    await settle()
    expect((await only(harness)).catalogRevision).toBe(2)
  })

  it('tells its preparation what the server said of itself', async () => {
    const { harness } = await echoing(tool('a'))
    const captured = await only(harness)
    const prepare = async ({ serverInfo, capabilities }: ReadyClient) => ({ arguments: { serverInfo, capabilities } })
    const { serverInfo, capabilities } = await harness.manager.ready(captured.key)
    expect(await captured.prepareCall('a').run({}, { prepare })).toEqual({
      got: { name: 'a', arguments: { serverInfo, capabilities } },
    })
  })

  it('sends nothing when its preparation fails, and gives the catalog back', async () => {
    const { harness, relist } = await echoing(tool('a'))
    const call = (await only(harness)).prepareCall('a')
    const prepare = () => Promise.reject(new Error('upload failed'))
    await expect(call.run({}, { prepare })).rejects.toThrow('upload failed')
    await relist(tool('b'))
    expect((await only(harness)).catalogRevision).toBe(2)
    expect(harness.server('s').count('tools/call')).toBe(0)
  })

  it('relays errors of the tool and of the protocol as they are', async () => {
    const harness = await new ManagerHarness({
      scripts: {
        s: {
          ...listing(tool('a'), tool('b')),
          'tools/call': ({ name }) => {
            if (name === 'a') return { isError: true, content: [], extra: 1 }
            throw new Refusal(-32602, 'bad arguments', { field: 'x' })
          },
        },
      },
    }).up(stdioServer('s'))
    const captured = await only(harness)
    expect(await captured.prepareCall('a').run({})).toEqual({ isError: true, content: [], extra: 1 })
    await expect(captured.prepareCall('b').run({})).rejects.toMatchObject({ rpcCode: -32602, rpcData: { field: 'x' } })
  })

  it.each([
    ['the server', 20, undefined],
    ['the caller', undefined, 20],
    ['the smaller of both', 20, 60_000],
  ])('times out after the time of %s', async (_what, toolTimeoutMs, timeoutMs) => {
    const harness = await new ManagerHarness({
      scripts: { s: { ...listing(tool('a')), 'tools/call': () => new Promise(() => {}) } },
    }).up(stdioServer('s', toolTimeoutMs === undefined ? {} : { toolTimeoutMs }))
    const call = (await only(harness)).prepareCall('a')
    await expect(call.run({}, timeoutMs === undefined ? {} : { timeoutMs })).rejects.toMatchObject({
      code: 'timeout',
      key: { name: 's' },
    })
  })
})

describe('a call of a server that is not up', () => {
  const KNOWN = tool('a', { annotations: { readOnlyHint: true }, description: 'old' })

  async function fromCache(now: JsonObject[], options: ManagerHarnessOptions = {}) {
    const cache = new MemoryCache()
    const first = await new ManagerHarness({ cache, scripts: { s: listing(KNOWN) } }).up(stdioServer('s'))
    await first.manager.close()
    const started = gate()
    const harness = new ManagerHarness({
      cache,
      scripts: {
        s: {
          'tools/list': () => started.passed.then(() => ({ tools: now })),
          'tools/call': (params) => ({ got: params }),
        },
      },
      ...options,
    })
    harness.manager.replace([stdioServer('s')])
    const captured = await only(harness)
    return { harness, captured, call: captured.prepareCall('a'), started }
  }

  it('waits for it, and is carried out when the tool is to be called as the cache knew it', async () => {
    const { call, started, captured } = await fromCache([{ ...KNOWN, description: 'new', title: 'T' }])
    expect([captured.live, call.binding.live]).toEqual([false, false])
    const result = call.run({})
    started.open()
    expect(await result).toEqual({ got: { name: 'a' } })
  })

  it.each<[string, JsonObject[]]>([
    ['is gone', []],
    ['has another schema', [{ ...KNOWN, inputSchema: { type: 'object', required: ['x'] } }]],
    ['is not read-only any more', [{ ...KNOWN, annotations: { readOnlyHint: false } }]],
  ])('is refused when the tool %s', async (_what, now) => {
    const { call, started, harness } = await fromCache(now)
    started.open()
    await expect(call.run({})).rejects.toMatchObject({ code: 'stale_catalog' })
    expect(harness.server('s').count('tools/call')).toBe(0)
  })

  it('says why it did not come up', async () => {
    const { call, started } = await fromCache([], {
      through: (_server, transport) =>
        new FailingTransport(transport, () => new TransportClosedError('gone', { sent: false })),
    })
    started.open()
    await expect(call.run({})).rejects.toMatchObject({ code: 'startup_failed' })
  })

  it('starts it at once within the delay after a crash', async () => {
    const { harness } = await echoing(tool('a'))
    const call = (await only(harness)).prepareCall('a')
    await harness.server('s').crash()
    await settle()
    expect(await call.run({})).toEqual({ got: { name: 'a' } })
    expect(harness.countOf('s')).toBe(2)
  })

  it('is refused when the restarted server defines the tool otherwise', async () => {
    const harness = await new ManagerHarness({
      scripts: { s: (attempt) => listing(tool('a', { description: `of attempt ${attempt}` })) },
    }).up(stdioServer('s'))
    const call = (await only(harness)).prepareCall('a')
    await harness.server('s').crash()
    await settle()
    await expect(call.run({})).rejects.toMatchObject({ code: 'stale_catalog' })
  })

  it('that had left before the crash is never sent again', async () => {
    const script: Record<string, Script> = {
      ...listing(tool('a')),
      'tools/call': async (_params, { server }) => {
        await server.crash()
        return {}
      },
    }
    const harness = await new ManagerHarness({ scripts: { s: script } }).up(stdioServer('s'))
    const call = (await only(harness)).prepareCall('a')
    await expect(call.run({})).rejects.toMatchObject({ code: 'transport_closed', sent: true })
    await harness.timers.advance(1000)
    expect(harness.opened.map(({ scripted }) => scripted.count('tools/call'))).toEqual([1, 0])
  })
})
