import { describe, expect, it } from 'vitest'
import { listing, tool } from '../../test/fixtures/connections/harness.js'
import { ManagerHarness } from '../../test/fixtures/connections/manager-harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { gate, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'

const BROKEN: Record<string, Script> = {
  'tools/list': () => {
    throw new Refusal(-32603, 'broken')
  },
}
const HANGING: Record<string, Script> = { initialize: () => new Promise(() => {}) }

const PROMPT = { name: 'p' }
const HELLO = { protocolVersion: '2025-11-25', serverInfo: {}, capabilities: { tools: {}, prompts: {} } }

describe('a replaced set', () => {
  const tools = { ...listing(tool('a'), tool('b')) }

  it('keeps a connection that is up and unchanged, without listing again or a second ready', async () => {
    const harness = await new ManagerHarness({ scripts: { s: tools } }).up(stdioServer('s'))
    await harness.up(
      stdioServer('s', { enabledTools: ['a'], defaultToolsApprovalMode: 'approve', startupTimeoutMs: 1 }),
    )
    expect(harness.countOf('s')).toBe(1)
    expect(harness.server('s').count('tools/list')).toBe(1)
    expect(harness.transitions).toEqual(['s starting', 's ready'])
    expect(harness.summaries).toHaveLength(1)
  })

  it('gives the new view to new captures, and leaves older ones theirs', async () => {
    const harness = await new ManagerHarness({ scripts: { s: tools } }).up(
      stdioServer('s', { defaultToolsApprovalMode: 'prompt' }),
    )
    const [before] = await harness.manager.capture()
    await harness.up(stdioServer('s', { enabledTools: ['a'], defaultToolsApprovalMode: 'approve' }))
    const [after] = await harness.manager.capture()
    expect([before, after].map((server) => server?.tools.map(({ name }) => name))).toEqual([['a', 'b'], ['a']])
    expect([before, after].map((server) => server?.config.defaultToolsApprovalMode)).toEqual(['prompt', 'approve'])
    expect(before?.prepareCall('b').binding.tool).toBe('b')
    expect(() => after?.prepareCall('b')).toThrow("tool 'b' is disabled for MCP server 's'")
  })

  it('keeps a startup under way; the new filter applies when it is up', async () => {
    const initialized = gate()
    const harness = new ManagerHarness({
      scripts: {
        s: { ...tools, 'tools/list': () => initialized.passed.then(() => ({ tools: [tool('a'), tool('b')] })) },
      },
    })
    harness.manager.replace([stdioServer('s')])
    await settle()
    harness.manager.replace([stdioServer('s', { disabledTools: ['a'] })])
    initialized.open()
    const [captured] = await harness.manager.capture({ wait: 'all' })
    expect(captured?.tools.map(({ name }) => name)).toEqual(['b'])
    expect(harness.countOf('s')).toBe(1)
  })

  it('starts a startup under way anew when it gets another timeout', async () => {
    const harness = new ManagerHarness({ scripts: { s: HANGING } })
    harness.manager.replace([stdioServer('s')])
    await settle()
    harness.manager.replace([stdioServer('s', { startupTimeoutMs: 5000 })])
    await settle()
    expect(harness.opened.map(({ scripted }) => scripted.closed)).toEqual([true, false])
  })

  it('cancels a startup under way of a server that it switches off', async () => {
    const harness = new ManagerHarness({ scripts: { s: HANGING } })
    harness.manager.replace([stdioServer('s')])
    await settle()
    harness.manager.replace([stdioServer('s', { enabled: false })])
    await settle()
    expect(harness.server('s').closed).toBe(true)
    expect(harness.manager.statuses()).toMatchObject([{ status: 'disabled' }])
  })

  it.each([
    ['command', stdioServer('s', {}, { command: 'other' })],
    ['transport', httpServer('s')],
  ])('makes a new connection for another %s, and closes the old one', async (_what, changed) => {
    const harness = await new ManagerHarness({ scripts: { s: tools } }).up(stdioServer('s'))
    await harness.up(changed)
    await settle()
    expect(harness.opened.map(({ scripted }) => scripted.closed)).toEqual([true, false])
    expect(harness.transitions).toEqual(['s starting', 's ready', 's starting', 's ready'])
  })

  it.each<[string, Record<string, Script>]>([['failed', BROKEN]])(
    'starts a server anew that %s',
    async (_what, first) => {
      const harness = await new ManagerHarness({
        scripts: { s: (attempt) => (attempt === 0 ? first : tools) },
      }).up(stdioServer('s'))
      await harness.up(stdioServer('s'))
      expect(harness.manager.statuses()).toMatchObject([{ status: 'connected' }])
    },
  )

  it('starts a server anew that is waiting after a crash, without waiting', async () => {
    const harness = await new ManagerHarness({ scripts: { s: tools } }).up(stdioServer('s'))
    await harness.server('s').crash()
    await settle()
    await harness.up(stdioServer('s'))
    expect(harness.manager.statuses()).toMatchObject([{ status: 'connected' }])
  })

  it('starts everything anew when asked to', async () => {
    const harness = await new ManagerHarness({ scripts: { s: tools } }).up(stdioServer('s'))
    harness.manager.replace([stdioServer('s')], { fresh: true })
    await harness.manager.capture({ wait: 'all' })
    await settle()
    expect(harness.opened.map(({ scripted }) => scripted.closed)).toEqual([true, false])
  })

  it('lets a call under way finish whose server it drops', async () => {
    const over = gate()
    const harness = await new ManagerHarness({
      scripts: { s: { ...tools, 'tools/call': () => over.passed.then(() => ({ done: true })) } },
    }).up(stdioServer('s'))
    const [captured] = await harness.manager.capture()
    const call = captured?.prepareCall('a').run({})
    await harness.server('s').saw('tools/call')
    harness.manager.replace([])
    await settle()
    expect(harness.server('s').closed).toBe(false)
    over.open()
    expect(await call).toEqual({ done: true })
    await settle()
    expect(harness.server('s').closed).toBe(true)
    await expect(captured?.prepareCall('a').run({})).rejects.toMatchObject({ code: 'closed' })
  })

  it('lets it finish for 10 seconds, and no longer', async () => {
    const harness = await new ManagerHarness({
      scripts: { s: { ...tools, 'tools/call': () => new Promise(() => {}) } },
    }).up(stdioServer('s'))
    const [captured] = await harness.manager.capture()
    const outcome = captured
      ?.prepareCall('a')
      .run({})
      .catch((error: unknown) => error)
    await harness.server('s').saw('tools/call')
    harness.manager.replace([])
    await harness.timers.advance(9_999)
    expect(harness.server('s').closed).toBe(false)
    await harness.timers.advance(1)
    expect(await outcome).toMatchObject({ code: 'transport_closed', sent: true })
    expect(harness.server('s').closed).toBe(true)
  })

  it('still asks the user for a call that began under the set before', async () => {
    const over = gate()
    const harness = await new ManagerHarness({
      scripts: { s: { ...tools, 'tools/call': () => over.passed.then(() => ({})) } },
      onRequest: async ({ origin }) => ({ asked: String(origin) }),
    }).up(stdioServer('s'))
    const [captured] = await harness.manager.capture()
    const call = captured?.prepareCall('a').run({}, { origin: 'old call' })
    await harness.server('s').saw('tools/call')
    harness.manager.replace([stdioServer('s', { enabledTools: ['b'] })])
    expect(await harness.server('s').ask('elicitation/create')).toMatchObject({ result: { asked: 'old call' } })
    over.open()
    await call
  })

  it('tells each part of what a server offers once, when it starts and when a restart changed it', async () => {
    const scripts = {
      s: { ...listing(tool('a')), initialize: () => HELLO, 'prompts/list': () => ({ prompts: [PROMPT] }) },
    }
    const harness = await new ManagerHarness({ scripts }).up(stdioServer('s'))
    expect(harness.inventoryChanges).toEqual(['s tools', 's prompts'])
    harness.events.length = 0
    Object.assign(scripts.s, listing(tool('b')))
    await harness.server('s').crash()
    await harness.timers.advance(1_000)
    await settle()
    expect([harness.countOf('s'), harness.inventoryChanges]).toEqual([2, ['s tools']])
  })

  it('tells when what a server offered is gone', async () => {
    const harness = await new ManagerHarness({ scripts: { s: tools } }).up(stdioServer('s'))
    harness.events.length = 0
    harness.manager.replace([])
    expect(harness.inventoryChanges).toContain('s tools')
  })
})
