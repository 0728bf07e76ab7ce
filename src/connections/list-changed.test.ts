import { describe, expect, it } from 'vitest'
import { ConnectionHarness, tool } from '../../test/fixtures/connections/harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { gate, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import type { JsonObject } from '../protocol/index.js'

const TOOLS_CHANGED = 'notifications/tools/list_changed'

/** A server whose tools can be changed, and that declares no list changes at all. */
async function changing(...first: JsonObject[]) {
  const offered = { tools: first }
  const script: Record<string, Script> = { 'tools/list': () => ({ tools: [...offered.tools] }) }
  const harness = await new ConnectionHarness({ scripts: [script] }).up()
  return { harness, offered, catalog: harness.connection.offer.catalog }
}

describe('a server that says its list changed, declared or not', () => {
  it('is listed again 50 ms later, and the new list published with a new revision', async () => {
    const { harness, offered, catalog } = await changing(tool('a'))
    const before = catalog.snapshot
    offered.tools = [tool('b')]
    await harness.server.notify(TOOLS_CHANGED)
    await harness.timers.advance(49)
    expect(catalog.snapshot).toBe(before)
    await harness.timers.advance(1)
    expect(catalog.snapshot).toEqual({ revision: 2, tools: [tool('b')] })
    expect(before).toEqual({ revision: 1, tools: [tool('a')] })
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('b')])
    expect(harness.route.inventoryChanges).toEqual(['tools', 'tools'])
    expect(harness.kept.at(-1)?.tools).toEqual([tool('b')])
  })

  it('is listed once for a burst, and after a second at the latest', async () => {
    const { harness, offered, catalog } = await changing(tool('a'))
    offered.tools = [tool('b')]
    for (let ms = 0; ms < 980; ms += 20) {
      await harness.server.notify(TOOLS_CHANGED)
      await harness.timers.advance(20)
    }
    expect(harness.server.count('tools/list')).toBe(1)
    await harness.timers.advance(20)
    expect(harness.server.count('tools/list')).toBe(2)
    expect(catalog.snapshot.revision).toBe(2)
  })

  it('is not published when nothing differs, whatever the order', async () => {
    const { harness, offered, catalog } = await changing(tool('a'), tool('b', { annotations: { title: 'x' } }))
    const before = catalog.snapshot
    offered.tools = [{ annotations: { title: 'x' }, ...tool('b') }, tool('a')]
    await harness.server.notify(TOOLS_CHANGED)
    await harness.timers.advance(50)
    expect(harness.server.count('tools/list')).toBe(2)
    expect(catalog.snapshot).toBe(before)
    expect(harness.route.inventoryChanges).toEqual(['tools'])
  })

  it('whenever it is asked does not keep us asking', async () => {
    const script: Record<string, Script> = {
      'tools/list': (_params, { server }) => {
        void server.notify(TOOLS_CHANGED)
        return { tools: [tool('a')] }
      },
    }
    const harness = await new ConnectionHarness({ scripts: [script] }).up()
    await harness.timers.advance(60_000)
    expect(harness.server.count('tools/list')).toBeLessThan(22)
    expect(harness.server.count('tools/list')).toBeGreaterThan(10)
  })

  it('during a listing is listed once more', async () => {
    const asked = gate()
    const answered = gate()
    let listings = 0
    const script: Record<string, Script> = {
      'tools/list': async () => {
        listings += 1
        const number = listings
        if (number === 2) {
          asked.open()
          await answered.passed
        }
        return { tools: [tool(`t${number}`)] }
      },
    }
    const harness = await new ConnectionHarness({ scripts: [script] }).up()
    await harness.server.notify(TOOLS_CHANGED)
    await harness.timers.advance(50)
    await asked.passed
    await harness.server.notify(TOOLS_CHANGED)
    answered.open()
    await harness.timers.advance(50)
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('t3')])
  })

  it('during its startup is listed once more when it is up', async () => {
    let listings = 0
    const script: Record<string, Script> = {
      'tools/list': async (_params, { server }) => {
        listings += 1
        if (listings === 1) await server.notify(TOOLS_CHANGED)
        return { tools: [tool(`t${listings}`)] }
      },
    }
    const harness = await new ConnectionHarness({ scripts: [script] }).up()
    await harness.timers.advance(50)
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('t2')])
  })

  it('keeps what it had when the new listing fails, and is named', async () => {
    let broken = false
    const script: Record<string, Script> = {
      'tools/list': () => {
        if (broken) throw new Refusal(-32603, 'no database')
        return { tools: [tool('a')] }
      },
    }
    const harness = await new ConnectionHarness({ scripts: [script] }).up()
    broken = true
    await harness.server.notify(TOOLS_CHANGED)
    await harness.timers.advance(50)
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('a')])
    expect(harness.route.warnings).toEqual(["MCP server 'notes': tools/list failed: no database"])
    expect(harness.state.state).toBe('ready')
  })

  it.each([
    ['notifications/resources/list_changed', 'resources', { resources: [{ uri: 'a://1' }], resourceTemplates: [] }],
    ['notifications/prompts/list_changed', 'prompts', { prompts: [{ name: 'p' }] }],
  ])('by %s has those listed, though it declares none', async (method, what, members) => {
    const harness = await new ConnectionHarness({
      scripts: [
        {
          'resources/list': () => ({ resources: [{ uri: 'a://1' }] }),
          'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
        },
      ],
    }).up()
    await harness.server.notify(method)
    await harness.timers.advance(50)
    expect(harness.connection.offer.inventory).toMatchObject(members)
    expect(harness.route.inventoryChanges).toEqual(['tools', what])
    await settle()
  })

  it('waits with the new list for a call that holds the catalog, and fetches it meanwhile', async () => {
    const { harness, offered, catalog } = await changing(tool('a'))
    const lease = await catalog.lease('a', () => true)
    offered.tools = [tool('a', { description: 'new' })]
    await harness.server.notify(TOOLS_CHANGED)
    await harness.timers.advance(50)
    expect(harness.server.count('tools/list')).toBe(2)
    expect(catalog.snapshot.revision).toBe(1)
    lease.release()
    await settle()
    expect(catalog.snapshot.revision).toBe(2)
  })
})
