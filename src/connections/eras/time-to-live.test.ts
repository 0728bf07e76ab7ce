import { describe, expect, it } from 'vitest'
import { ConnectionHarness, tool } from '../../../test/fixtures/connections/harness.js'
import { settle } from '../../../test/fixtures/connections/manual-timers.js'
import { modern } from '../../../test/fixtures/connections/modern-script.js'
import { Refusal, type Script } from '../../../test/fixtures/connections/scripted-server.js'
import { type JsonObject, MODERN_META } from '../../protocol/index.js'

const ALL = { tools: {}, resources: {}, prompts: {} }
const hour = 3_600_000
const listed = (members: JsonObject, ttlMs: number, cacheScope = 'public') => ({ ...members, ttlMs, cacheScope })

async function up(script: Record<string, Script>, capabilities: JsonObject = ALL) {
  const harness = await new ConnectionHarness({ scripts: [modern(script, { capabilities })] }).up()
  /** What a capture sets off, and how often each listing was asked for by then. */
  const captured = async (...methods: string[]) => {
    harness.connection.refreshExpired()
    await harness.timers.advance(2_000)
    return methods.map((method) => harness.server.count(method))
  }
  return { harness, captured }
}

describe('how long a listing holds', () => {
  it('is kept for each, the shortest and narrowest of its pages', async () => {
    const { harness } = await up({
      'tools/list': ({ cursor }) =>
        cursor === undefined
          ? { ...listed({ tools: [tool('a')] }, 5_000), nextCursor: 'b' }
          : listed({ tools: [tool('b')] }, 3_000, 'private'),
      'resources/list': () => listed({ resources: [] }, 9_000),
      'prompts/list': () => ({ prompts: [] }),
    })
    expect(harness.connection.offer.inventory?.cacheHints).toEqual({
      tools: { ttlMs: 3_000, cacheScope: 'private' },
      resources: { ttlMs: 9_000, cacheScope: 'public' },
    })
  })

  it('is nothing to a legacy server', async () => {
    const harness = await new ConnectionHarness({
      scripts: [{ 'tools/list': () => listed({ tools: [] }, 5_000) }],
    }).up()
    expect(harness.connection.offer.inventory).not.toHaveProperty('cacheHints')
  })

  it('over, it is listed anew when it is captured, and not before', async () => {
    let tools = [tool('a')]
    const { harness, captured } = await up({ 'tools/list': () => listed({ tools }, hour) })
    expect(await captured('tools/list')).toEqual([1])
    tools = [tool('a'), tool('b')]
    await harness.timers.advance(hour)
    expect(harness.server.count('tools/list')).toBe(1)
    expect(await captured('tools/list')).toEqual([2])
    expect(harness.connection.offer.inventory?.tools).toEqual(tools)
    expect(harness.route.inventoryChanges).toContain('tools')
    expect(await captured('tools/list')).toEqual([2])
  })

  it('counts anew from each listing, whatever came of it', async () => {
    let broken = false
    const { harness, captured } = await up({
      'tools/list': () => {
        if (broken) throw new Refusal(-32603, 'not now')
        return listed({ tools: [tool('a')] }, hour)
      },
    })
    await harness.timers.advance(hour)
    broken = true
    expect(await captured('tools/list')).toEqual([2])
    expect(await captured('tools/list')).toEqual([2])
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('a')])
    broken = false
    await harness.timers.advance(hour)
    expect(await captured('tools/list')).toEqual([3])
  })

  it('is each part its own', async () => {
    const { harness, captured } = await up({
      'tools/list': () => listed({ tools: [] }, 10 * hour),
      'resources/list': () => listed({ resources: [] }, 10 * hour),
      'resources/templates/list': () => listed({ resourceTemplates: [] }, hour),
      'prompts/list': () => listed({ prompts: [] }, 0),
    })
    await harness.timers.advance(2 * hour)
    const counts = await captured('tools/list', 'resources/list', 'resources/templates/list', 'prompts/list')
    expect(counts).toEqual([1, 2, 2, 1])
    expect(harness.connection.offer.inventory?.cacheHints).toMatchObject({ tools: { ttlMs: 10 * hour } })
  })

  it('does not matter while the server would tell of a change', async () => {
    const { harness, captured } = await up(
      {
        'tools/list': () => listed({ tools: [] }, hour),
        'prompts/list': () => listed({ prompts: [] }, hour),
        'subscriptions/listen': async ({ notifications }, { id, server }) => {
          await server.notify('notifications/subscriptions/acknowledged', {
            notifications: notifications ?? {},
            _meta: { [MODERN_META.subscriptionId]: id },
          })
          return new Promise(() => {})
        },
      },
      { tools: { listChanged: true }, prompts: {} },
    )
    await settle()
    await harness.timers.advance(hour)
    expect(await captured('tools/list', 'prompts/list')).toEqual([1, 2])
  })
})
