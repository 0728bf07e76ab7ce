import { describe, expect, it } from 'vitest'
import { listing, tool } from '../../test/fixtures/connections/harness.js'
import { ManagerHarness, MemoryCache } from '../../test/fixtures/connections/manager-harness.js'
import { ManualTimers, settle } from '../../test/fixtures/connections/manual-timers.js'
import { FailingTransport, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { AuthRequiredError } from '../errors.js'
import { serverKey } from '../identity/index.js'

const BROKEN: Record<string, Script> = {
  'tools/list': () => {
    throw new Refusal(-32603, 'broken')
  },
}
const HANGING: Record<string, Script> = { initialize: () => new Promise(() => {}) }

describe('a published set', () => {
  it('starts every enabled server at once, and tells each transition and one summary', async () => {
    const harness = new ManagerHarness({ scripts: { good: listing(tool('a')), bad: BROKEN } })
    harness.manager.replace([stdioServer('good'), stdioServer('bad'), stdioServer('off', { enabled: false })])
    expect(harness.transitions).toEqual(['good starting', 'bad starting'])
    await harness.manager.capture({ wait: 'all' })
    await settle()
    expect(harness.transitions.slice(2).sort()).toEqual(['bad failed', 'good ready'])
    expect(harness.countOf('off')).toBe(0)
    expect(harness.summaries).toEqual([
      {
        type: 'startup_summary',
        ready: [serverKey('good')],
        failed: [{ key: serverKey('bad'), error: 'broken' }],
        cancelled: [],
      },
    ])
    expect(harness.events.find((event) => event.type === 'status' && event.status === 'failed')).toMatchObject({
      error: 'MCP client for `bad` failed to start: MCP startup failed: broken',
    })
  })

  it('has one status row per key, in order, without starting or waiting', async () => {
    const harness = await new ManagerHarness({ scripts: { good: listing(tool('a'), tool('b')), bad: BROKEN } }).up(
      stdioServer('good', { disabledTools: ['b'], required: true }),
      stdioServer('good', {}, {}, 'devbox'),
      httpServer('bad'),
      stdioServer('off', { enabled: false }),
    )
    expect(harness.manager.statuses()).toMatchObject([
      { key: { name: 'bad', environment: null }, status: 'failed', transport: 'streamable_http', cached: false },
      { key: { name: 'good', environment: null }, status: 'connected', tools: 1, required: true, transport: 'stdio' },
      { key: { name: 'good', environment: 'devbox' }, status: 'connected', tools: 2 },
      { key: { name: 'off', environment: null }, status: 'disabled' },
    ])
    expect(harness.manager.statuses()[0]?.error).toMatchObject({ code: 'startup_failed' })
  })

  it('shows when the next attempt after a crash is due', async () => {
    const harness = await new ManagerHarness().up(stdioServer('a'))
    await harness.server('a').crash()
    await settle()
    expect(harness.manager.statuses()).toMatchObject([
      { status: 'failed', retryAt: harness.timers.now() + 1000, error: { message: 'Transport closed' } },
    ])
    expect(harness.events.at(-1)).toMatchObject({
      status: 'failed',
      error: 'MCP client for `a` stopped: Transport closed',
    })
    await harness.timers.advance(1000)
    expect(harness.transitions).toEqual(['a starting', 'a ready', 'a failed', 'a starting', 'a ready'])
    expect(harness.manager.statuses()[0]).not.toHaveProperty('retryAt')
  })

  it('that keeps crashing makes little noise', async () => {
    const timers = new ManualTimers()
    const crashing: Script = (_params, { server }) => {
      timers.after(1, () => void server.crash())
      return { tools: [] }
    }
    const harness = await new ManagerHarness({ timers, scripts: { s: { 'tools/list': crashing } } }).up(
      stdioServer('s'),
    )
    await harness.timers.advance(60_000)
    expect(harness.events.length).toBeLessThanOrEqual(20)
    expect(harness.countOf('s')).toBe(6)
  })

  it('tells servers that want a login apart', async () => {
    const harness = await new ManagerHarness({
      through: (_server, transport) => new FailingTransport(transport, () => new AuthRequiredError('401')),
    }).up(httpServer('docs'))
    expect(harness.manager.statuses()).toMatchObject([{ status: 'authentication_required' }])
  })

  it('keeps a hanging and a failing server from delaying or hiding the others', async () => {
    const harness = new ManagerHarness({ scripts: { hang: HANGING, bad: BROKEN, good: listing(tool('a')) } })
    harness.manager.replace([stdioServer('hang'), stdioServer('bad'), stdioServer('good')])
    const captured = harness.manager.capture()
    await harness.timers.advance(1000)
    expect((await captured).map(({ key, live, tools }) => [key.name, live, tools.length])).toEqual([
      ['hang', false, 0],
      ['bad', false, 0],
      ['good', true, 1],
    ])
    await harness.timers.advance(29_000)
    expect(harness.manager.statuses().map(({ error }) => error?.message ?? 'fine')).toEqual([
      'MCP client for `bad` failed to start: MCP startup failed: broken',
      'fine',
      expect.stringContaining('MCP client for `hang` timed out after 30 seconds'),
    ])
  })
})

describe('a listener that throws', () => {
  it('breaks nothing of the connections', async () => {
    const thrown: unknown[] = []
    const taken = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => thrown.push(error))
    try {
      const harness = await new ManagerHarness({
        onEvent: () => {
          throw new Error('in the listener')
        },
        scripts: { s: listing(tool('a')) },
      }).up(stdioServer('s'))
      await settle()
      expect(harness.manager.statuses()).toMatchObject([{ status: 'connected', tools: 1 }])
      expect(thrown).toContainEqual(new Error('in the listener'))
    } finally {
      process.removeAllListeners('uncaughtException')
      for (const listener of taken) process.on('uncaughtException', listener)
    }
  })
})

describe('connections of one owner', () => {
  it('are shared by identity, and closed with their last holder', async () => {
    const one = await new ManagerHarness().up(stdioServer('s'))
    const two = new ManagerHarness({ pool: one.pool, timers: one.timers })
    await two.up(stdioServer('s'))
    expect(one.countOf('s')).toBe(1)
    expect(two.transitions).toEqual(['s ready'])
    await one.manager.close()
    expect(one.server('s').closed).toBe(false)
    await two.manager.close()
    expect(one.server('s').closed).toBe(true)
  })

  it('are not shared with another owner', async () => {
    const one = await new ManagerHarness().up(stdioServer('s'))
    await new ManagerHarness({ pool: one.pool, timers: one.timers, owner: 'other' }).up(stdioServer('s'))
    expect(one.countOf('s')).toBe(2)
  })
})

describe('a manager that closes', () => {
  it('ends startups and calls, all at once', async () => {
    const harness = new ManagerHarness({
      scripts: { hang: HANGING, s: { ...listing(tool('a')), 'tools/call': () => new Promise(() => {}) } },
    })
    harness.manager.replace([stdioServer('hang'), stdioServer('s')])
    const [captured] = (await harness.manager.capture({ required: [serverKey('s')], wait: 'none' })).slice(1)
    expect(captured?.key.name).toBe('s')
    const client = await harness.manager.ready(serverKey('s'))
    const call = client.request('tools/call', { name: 'a' })
    const pending = harness.manager.capture({ wait: 'all' })
    await harness.server('s').saw('tools/call')
    const closed = harness.manager.close()
    await expect(call).rejects.toMatchObject({ code: 'transport_closed' })
    await expect(pending).rejects.toMatchObject({ code: 'closed' })
    await closed
    expect(harness.opened.map(({ scripted }) => scripted.closed)).toEqual([true, true])
    expect(() => harness.manager.replace([])).toThrow('closed')
  })

  it('does not wait longer than ten seconds for one that does not end', async () => {
    const harness = await new ManagerHarness({
      through: (_server, transport) => {
        const stubborn = new FailingTransport(transport, () => undefined)
        stubborn.close = () => new Promise(() => {})
        return stubborn
      },
    }).up(stdioServer('s'))
    let closed = false
    void harness.manager.close().then(() => {
      closed = true
    })
    await harness.timers.advance(9_999)
    expect(closed).toBe(false)
    await harness.timers.advance(1)
    expect(closed).toBe(true)
  })

  it('tells nothing more', async () => {
    const harness = await new ManagerHarness({ scripts: { s: listing(tool('a')) } }).up(stdioServer('s'))
    await settle()
    const told = harness.events.length
    await harness.manager.close()
    await settle()
    expect(harness.events.slice(told)).toEqual([])
  })
})

describe('required servers', () => {
  it('are waited for, and all that failed are in one error, in name order', async () => {
    const harness = new ManagerHarness({ scripts: { z: BROKEN, bad: BROKEN, optional: BROKEN } })
    harness.manager.replace([
      stdioServer('z', { required: true }),
      stdioServer('ok', { required: true }),
      stdioServer('bad', { required: true }),
      stdioServer('optional'),
      stdioServer('off', { required: true, enabled: false }),
    ])
    await expect(harness.manager.validateRequired()).rejects.toMatchObject({
      code: 'required_servers_failed',
      message: 'required MCP servers failed to initialize: bad: broken; z: broken',
    })
  })

  it('may ask the user something while they start', async () => {
    const harness = new ManagerHarness({
      onRequest: async () => ({ action: 'accept' }),
      scripts: {
        s: {
          'tools/list': async (_params, { server }) => {
            await server.ask('elicitation/create')
            return { tools: [] }
          },
        },
      },
    })
    harness.manager.replace([stdioServer('s', { required: true })])
    await harness.manager.validateRequired()
    expect(harness.manager.statuses()).toMatchObject([{ status: 'connected' }])
  })

  it('need not come up when a cached catalog is enough for them', async () => {
    const cache = new MemoryCache()
    const server = stdioServer('s', { required: true, startupReadiness: 'catalog' })
    await (await new ManagerHarness({ cache, scripts: { s: listing(tool('a')) } }).up(server)).manager.close()
    const harness = new ManagerHarness({ cache, scripts: { s: HANGING } })
    harness.manager.replace([server])
    await harness.manager.validateRequired()
    expect((await harness.manager.capture())[0]?.tools).toEqual([tool('a')])
  })
})

describe('one server, asked for by key', () => {
  it('is waited for, and unknown or disabled ones are named', async () => {
    const harness = new ManagerHarness()
    harness.manager.replace([stdioServer('s'), stdioServer('off', { enabled: false })])
    expect((await harness.manager.ready(serverKey('s'))).serverInfo).toEqual({ name: 'scripted', version: '1' })
    await expect(harness.manager.ready(serverKey('x'))).rejects.toMatchObject({ code: 'unknown_server' })
    await expect(harness.manager.ready(serverKey('s', 'devbox'))).rejects.toMatchObject({ code: 'unknown_server' })
    await expect(harness.manager.ready(serverKey('off'))).rejects.toMatchObject({ code: 'server_disabled' })
  })

  it('is the one of the set that is published meanwhile', async () => {
    const harness = new ManagerHarness({ scripts: { s: (attempt) => (attempt === 0 ? HANGING : {}) } })
    harness.manager.replace([stdioServer('s')])
    const ready = harness.manager.ready(serverKey('s'))
    await settle()
    harness.manager.replace([stdioServer('s', {}, { command: 'other' })])
    expect(await (await ready).request('ping', undefined)).toEqual({})
  })

  it('is started again when its startup was cancelled', async () => {
    const harness = new ManagerHarness({ scripts: { s: (attempt) => (attempt === 0 ? HANGING : {}) } })
    harness.manager.replace([stdioServer('s')])
    await settle()
    harness.manager.cancelStartups()
    await settle()
    expect(harness.manager.statuses()).toMatchObject([{ status: 'cancelled' }])
    expect(harness.summaries).toMatchObject([{ ready: [], failed: [], cancelled: [serverKey('s')] }])
    await harness.manager.ready(serverKey('s'))
    expect(harness.manager.statuses()).toMatchObject([{ status: 'connected' }])
  })
})
