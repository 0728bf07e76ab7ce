import { describe, expect, it } from 'vitest'
import { ConnectionHarness, listing, tool } from '../../test/fixtures/connections/harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { FailingTransport, gate, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer } from '../../test/fixtures/connections/servers.js'
import { SessionExpiredError } from '../errors.js'

/** The first session expires at its first read; the renewal is held until told. */
async function expiring(first: Record<string, Script> = {}) {
  const renewal = gate()
  const harness = await new ConnectionHarness({
    server: httpServer('docs'),
    scripts: [
      { ...listing(tool('a')), ...first },
      { ...listing(tool('a')), 'resources/read': () => ({ session: 1 }) },
    ],
    through: async (transport, attempt) => {
      if (attempt === 1) await renewal.passed
      return new FailingTransport(transport, (message) =>
        attempt === 0 && 'method' in message && message.method === 'resources/read'
          ? new SessionExpiredError()
          : undefined,
      )
    },
  }).up()
  return { harness, renewal }
}

describe('the renewal of a session', () => {
  it('ends with the connection, and leaves nothing open', async () => {
    const { harness, renewal } = await expiring()
    const read = harness.request('resources/read', { uri: 'x' })
    await settle()
    const closed = harness.connection.close()
    await expect(read).rejects.toMatchObject({ code: 'closed' })
    renewal.open()
    await closed
    await settle()
    expect(harness.attempts.map(({ server }) => server.closed)).toEqual([true, true])
  })

  it('gives way to a restart when the old session ends meanwhile', async () => {
    const { harness, renewal } = await expiring()
    const read = harness.request('resources/read', { uri: 'x' })
    await settle()
    await harness.attempts[0]?.server.crash()
    await settle()
    expect(harness.state.state).toBe('waiting')
    renewal.open()
    expect(await read).toEqual({ session: 1 })
    expect(harness.state.state).toBe('ready')
    await settle()
    expect(harness.attempts.map(({ server }) => server.closed)).toEqual([true, true, false])
  })

  it('leaves calls on the old session time to end', async () => {
    const over = gate()
    const { harness, renewal } = await expiring({ 'tools/call': () => over.passed.then(() => ({ session: 0 })) })
    const call = harness.request('tools/call', { name: 'a' })
    const read = harness.request('resources/read', { uri: 'x' })
    renewal.open()
    expect(await read).toEqual({ session: 1 })
    expect(harness.attempts[0]?.server.closed).toBe(false)
    over.open()
    expect(await call).toEqual({ session: 0 })
    await settle()
    expect(harness.attempts[0]?.server.closed).toBe(true)
  })

  it('lets a caller go that gives up, and goes on for the others', async () => {
    const { harness, renewal } = await expiring()
    const abort = new AbortController()
    const given = harness.request('resources/read', { uri: 'x' }, { signal: abort.signal })
    const kept = harness.request('resources/read', { uri: 'x' })
    await settle()
    abort.abort()
    await expect(given).rejects.toMatchObject({ code: 'cancelled' })
    renewal.open()
    expect(await kept).toEqual({ session: 1 })
  })

  it('is made for a notification too', async () => {
    let told = 0
    const harness = await new ConnectionHarness({
      server: httpServer('docs'),
      through: (transport, attempt) =>
        new FailingTransport(transport, (message) => {
          if (!('method' in message) || message.method !== 'notifications/roots/list_changed') return undefined
          told += 1
          return attempt === 0 ? new SessionExpiredError() : undefined
        }),
    }).up()
    await harness.connection.notify('notifications/roots/list_changed', undefined)
    expect(told).toBe(2)
    expect(harness.server.count('notifications/roots/list_changed')).toBe(1)
  })
})
