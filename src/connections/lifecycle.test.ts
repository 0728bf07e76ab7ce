import { describe, expect, it } from 'vitest'
import { ConnectionHarness, listing, tool } from '../../test/fixtures/connections/harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { FailingTransport, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { AuthRequiredError } from '../errors.js'
import type { Transport } from '../protocol/index.js'

const BROKEN: Record<string, Script> = {
  'tools/list': () => {
    throw new Refusal(-32603, 'broken')
  },
}

function waiting(harness: ConnectionHarness) {
  const { state, timers } = harness
  if (state.state !== 'waiting') throw new Error(`not waiting but ${state.state}`)
  return { ...state, in: state.retryAt - timers.now() }
}

describe('a server that crashed', () => {
  it('is started again after a second, and says when', async () => {
    const harness = await new ConnectionHarness({ scripts: [listing(tool('a')), listing(tool('b'))] }).up()
    await harness.server.crash()
    await settle()
    expect(waiting(harness).in).toBe(1000)
    expect(waiting(harness).error).toMatchObject({ code: 'transport_closed', message: 'Transport closed' })
    await harness.timers.advance(999)
    expect(harness.attempts).toHaveLength(1)
    await harness.timers.advance(1)
    expect(harness.state.state).toBe('ready')
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('b')])
    expect(harness.route.states).toEqual(['starting', 'ready', 'waiting', 'starting', 'ready'])
  })

  it('gets 1, 2, 4, 8, 16, 30 and again 30 seconds while it does not come up', async () => {
    const harness = await new ConnectionHarness({ scripts: [{}, BROKEN] }).up()
    await harness.server.crash()
    await settle()
    const delays: number[] = []
    for (let attempt = 0; attempt < 7; attempt += 1) {
      delays.push(waiting(harness).in)
      await harness.timers.advance(waiting(harness).in)
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    expect(waiting(harness)).toMatchObject({ failures: 7, error: { code: 'startup_failed' } })
  })

  it('keeps its growing delays when it crashes soon after each start', async () => {
    const harness = await new ConnectionHarness().up()
    const delays: number[] = []
    for (let crash = 0; crash < 3; crash += 1) {
      await harness.server.crash()
      await settle()
      delays.push(waiting(harness).in)
      await harness.timers.advance(waiting(harness).in)
    }
    expect(delays).toEqual([1000, 2000, 4000])
  })

  it('starts over with the shortest delay after two stable minutes', async () => {
    const harness = await new ConnectionHarness().up()
    for (const stable of [0, 119_000, 120_000]) {
      await harness.timers.advance(stable)
      await harness.server.crash()
      await settle()
      if (stable < 120_000) await harness.timers.advance(waiting(harness).in)
    }
    expect(waiting(harness).in).toBe(1000)
  })

  it('is started at once when somebody needs it', async () => {
    const harness = await new ConnectionHarness().up()
    await harness.server.crash()
    await settle()
    await harness.connection.ready(harness.route)
    expect(harness.state.state).toBe('ready')
    expect(harness.attempts).toHaveLength(2)
    await harness.timers.advance(60_000)
    expect(harness.attempts).toHaveLength(2)
  })

  it('is started once for many who need it', async () => {
    const harness = await new ConnectionHarness().up()
    await harness.server.crash()
    await settle()
    await Promise.all(Array.from({ length: 10 }, () => harness.connection.ready(harness.route)))
    expect(harness.attempts).toHaveLength(2)
  })

  it('is left alone once it wants a login', async () => {
    const harness = await new ConnectionHarness({
      through: (transport: Transport, attempt) =>
        attempt === 0 ? transport : new FailingTransport(transport, () => new AuthRequiredError('401')),
    }).up()
    await harness.server.crash()
    await settle()
    await harness.timers.advance(1000)
    expect(harness.state).toMatchObject({ state: 'failed', error: { authRequired: true } })
    await harness.timers.advance(600_000)
    expect(harness.attempts).toHaveLength(2)
  })

  it('is not started again when the connection was closed, or the wait cancelled', async () => {
    for (const stop of ['close', 'cancelStartup'] as const) {
      const harness = await new ConnectionHarness().up()
      await harness.server.crash()
      await settle()
      await harness.connection[stop]()
      await harness.timers.advance(60_000)
      expect(harness.attempts).toHaveLength(1)
    }
  })
})

describe('a server that did not come up', () => {
  it('is not started again by itself, but when somebody needs it', async () => {
    const harness = await new ConnectionHarness({ scripts: [BROKEN, listing(tool('a'))] }).up()
    expect(harness.state.state).toBe('failed')
    await harness.timers.advance(600_000)
    expect(harness.attempts).toHaveLength(1)
    await harness.connection.ready(harness.route)
    expect(harness.state.state).toBe('ready')
  })

  it('tells everybody who waits why', async () => {
    const harness = new ConnectionHarness({ scripts: [BROKEN] })
    const waits = [harness.connection.ready(harness.route), harness.connection.ready(harness.route)]
    for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'startup_failed' })
    expect(harness.attempts).toHaveLength(1)
  })
})

describe('a server that is up', () => {
  it('stays up when startups are cancelled', async () => {
    const harness = await new ConnectionHarness().up()
    harness.connection.cancelStartup()
    expect(harness.state.state).toBe('ready')
  })

  it('lets the one who waits go, not the startup, when only the wait is cancelled', async () => {
    const harness = new ConnectionHarness()
    const abort = new AbortController()
    const wait = harness.connection.ready(harness.route, abort.signal)
    abort.abort()
    await expect(wait).rejects.toMatchObject({ code: 'cancelled' })
    await settle()
    expect(harness.state.state).toBe('ready')
  })

  it('is not started again when it ends while it is parked, and is when it ends later', async () => {
    const harness = await new ConnectionHarness().up()
    const resume = harness.connection.park()
    resume()
    await harness.server.crash()
    await harness.timers.advance(60_000)
    expect([harness.state.state, harness.attempts.length]).toEqual(['ready', 2])
    harness.connection.park()
    await harness.server.crash()
    await harness.timers.advance(60_000)
    expect([harness.state.state, harness.attempts.length]).toEqual(['closed', 2])
  })
})
