import { describe, expect, it } from 'vitest'
import { ConnectionHarness, type HarnessOptions, listing, tool } from '../../test/fixtures/connections/harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { FailingTransport, gate, Refusal, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer } from '../../test/fixtures/connections/servers.js'
import { SessionExpiredError, TransportClosedError } from '../errors.js'
import type { JsonObject, Transport } from '../protocol/index.js'

const CALL = { name: 'a', arguments: {} }

/** A script that answers calls and reads with the number of its session. */
function numbered(session: number): Record<string, Script> {
  const answer: Script = () => ({ session })
  return { ...listing(tool('a')), 'tools/call': answer, 'resources/read': answer, 'prompts/get': answer }
}

/** An HTTP connection whose transports fail where `fault` says so. */
function overHttp(
  fault: (method: string, attempt: number) => Error | undefined,
  options: HarnessOptions = {},
): Promise<ConnectionHarness> {
  return new ConnectionHarness({
    server: httpServer('docs'),
    scripts: [numbered(0), numbered(1), numbered(2), numbered(3)],
    through: (transport: Transport, attempt) =>
      new FailingTransport(transport, (message) => ('method' in message ? fault(message.method, attempt) : undefined)),
    ...options,
  }).up()
}

const expiredOn =
  (...attempts: number[]) =>
  (method: string, attempt: number) =>
    method === 'tools/call' && attempts.includes(attempt) ? new SessionExpiredError() : undefined

describe('a session that the server forgot', () => {
  it('is made anew once, and the request sent again, tools/call too', async () => {
    const harness = await overHttp(expiredOn(0))
    expect(await harness.request('tools/call', CALL)).toEqual({ session: 1 })
    expect(harness.state.state).toBe('ready')
    expect(harness.attempts).toHaveLength(2)
    expect(harness.attempts[1]?.server.count('initialize')).toBe(1)
    expect(harness.attempts[1]?.server.count('notifications/initialized')).toBe(1)
    await settle()
    expect(harness.attempts[0]?.server.closed).toBe(true)
    expect(harness.route.states).toEqual(['starting', 'ready'])
  })

  it('is made anew once for all requests that found it gone', async () => {
    const harness = await overHttp(expiredOn(0))
    const answers = await Promise.all(Array.from({ length: 8 }, () => harness.request('tools/call', CALL)))
    expect(answers).toEqual(Array.from({ length: 8 }, () => ({ session: 1 })))
    expect(harness.attempts).toHaveLength(2)
  })

  it('twice in a row fails, and the next call works', async () => {
    const harness = await overHttp(expiredOn(0, 1))
    await expect(harness.request('tools/call', CALL)).rejects.toMatchObject({ code: 'session_expired' })
    expect(await harness.request('tools/call', CALL)).toEqual({ session: 2 })
  })

  it('that can not be made anew fails the request, and the next one tries again', async () => {
    let down = true
    const harness = await overHttp(expiredOn(0), {
      through: (transport, attempt) => {
        if (attempt === 1 && down) throw new TransportClosedError('cannot reach the server', { sent: false })
        return new FailingTransport(transport, (message) =>
          'method' in message ? expiredOn(0)(message.method, attempt) : undefined,
        )
      },
    })
    await expect(harness.request('tools/call', CALL)).rejects.toMatchObject({
      code: 'startup_failed',
      message: expect.stringContaining('cannot reach the server'),
    })
    expect(harness.state.state).toBe('ready')
    down = false
    expect(await harness.request('tools/call', CALL)).toEqual({ session: 2 })
  })

  it('has its inventory listed again, for the server may be another one now', async () => {
    const harness = await overHttp(expiredOn(0), {
      scripts: [numbered(0), { ...numbered(1), ...listing(tool('a'), tool('new')) }],
    })
    await harness.request('tools/call', CALL)
    await harness.timers.advance(50)
    expect(harness.connection.offer.inventory?.tools).toEqual([tool('a'), tool('new')])
  })

  it('gets its log level and subscriptions said again', async () => {
    const accept: Script = () => ({})
    const setting = { 'logging/setLevel': accept, 'resources/subscribe': accept, 'resources/unsubscribe': accept }
    const harness = await overHttp(expiredOn(0), { scripts: [{ ...numbered(0), ...setting }] })
    await harness.request('logging/setLevel', { level: 'info' })
    await harness.request('resources/subscribe', { uri: 'a://1' })
    await harness.request('resources/subscribe', { uri: 'a://2' })
    await harness.request('resources/unsubscribe', { uri: 'a://1' })
    await harness.request('tools/call', CALL)
    const said = harness.server.received.flatMap((message) =>
      'method' in message && message.method in setting ? [[message.method, message.params]] : [],
    )
    expect(said).toEqual([
      ['logging/setLevel', { level: 'info' }],
      ['resources/subscribe', { uri: 'a://2' }],
    ])
  })

  it('counts against the time of the operation', async () => {
    const stuck = gate()
    const harness = await overHttp(expiredOn(0), {
      through: async (transport, attempt) => {
        if (attempt > 0) await stuck.passed
        return new FailingTransport(transport, (message) =>
          'method' in message ? expiredOn(0)(message.method, attempt) : undefined,
        )
      },
    })
    await expect(harness.request('tools/call', CALL, { timeoutMs: 30 })).rejects.toMatchObject({
      code: 'timeout',
      key: { name: 'docs' },
    })
    stuck.open()
  })
})

describe('a connection that is lost in the middle of', () => {
  const crashing: Script = async (_params, { server }) => {
    await server.crash()
    return {}
  }

  it('a tools/call fails the call, which is never sent again', async () => {
    const harness = await new ConnectionHarness({ scripts: [{ 'tools/call': crashing }, numbered(1)] }).up()
    await expect(harness.request('tools/call', CALL)).rejects.toMatchObject({
      code: 'transport_closed',
      sent: true,
      key: { name: 'notes' },
    })
    await harness.timers.advance(1000)
    expect(harness.state.state).toBe('ready')
    expect(harness.server.count('tools/call')).toBe(0)
  })

  it.each(['resources/read', 'prompts/get'])('%s sends it once more to the restarted server', async (method) => {
    const harness = await new ConnectionHarness({ scripts: [{ [method]: crashing }, numbered(1)] }).up()
    expect(await harness.request(method, { name: 'x' })).toEqual({ session: 1 })
    expect(harness.attempts).toHaveLength(2)
  })

  it('something that may be sent twice sends it twice and not three times', async () => {
    const harness = await new ConnectionHarness({ scripts: [{ 'resources/read': crashing }] }).up()
    await expect(harness.request('resources/read', { uri: 'x' })).rejects.toMatchObject({ code: 'transport_closed' })
    expect(harness.attempts.map(({ server }) => server.count('resources/read'))).toEqual([1, 1])
  })

  it('a request that never left sends it to the restarted server, whatever it is', async () => {
    const harness = await new ConnectionHarness({
      scripts: [numbered(0), numbered(1)],
      through: (transport, attempt) =>
        new FailingTransport(transport, (message) =>
          attempt === 0 && 'method' in message && message.method === 'tools/call'
            ? new TransportClosedError('the pipe is broken', { sent: false })
            : undefined,
        ),
    }).up()
    expect(await harness.request('tools/call', CALL)).toEqual({ session: 1 })
  })

  it('one exchange of many over HTTP sends a read again on the same session', async () => {
    let faults = 1
    const cut = (method: string) =>
      method === 'resources/read' && faults-- > 0
        ? new TransportClosedError('the stream ended', { sent: true })
        : undefined
    const harness = await overHttp(cut)
    expect(await harness.request('resources/read', { uri: 'x' })).toEqual({ session: 0 })
    expect(harness.attempts).toHaveLength(1)
    expect(harness.state.state).toBe('ready')
  })

  it('an exchange whose session is gone afterwards recovers from both', async () => {
    let faults = 1
    const harness = await overHttp((method, attempt) => {
      if (method !== 'resources/read' || attempt > 0) return undefined
      return faults-- > 0 ? new TransportClosedError('reset', { sent: true }) : new SessionExpiredError()
    })
    expect(await harness.request('resources/read', { uri: 'x' })).toEqual({ session: 1 })
  })
})

describe('a request', () => {
  it('relays parameters and results whole, and errors with code, message and data', async () => {
    const odd = { name: 'a', arguments: { x: null }, _meta: { y: [1] }, unknown: { z: true } }
    const harness = await new ConnectionHarness({
      scripts: [
        {
          'tools/call': (params) => ({ echoed: params, resultType: 'odd', content: [{ type: 'hologram' }] }),
          'resources/read': () => {
            throw new Refusal(-32002, 'Resource not found', { uri: 'a://1' })
          },
        },
      ],
    }).up()
    expect(await harness.request('tools/call', odd)).toEqual({
      echoed: odd,
      resultType: 'odd',
      content: [{ type: 'hologram' }],
    })
    await expect(harness.request('resources/read', { uri: 'a://1' })).rejects.toMatchObject({
      rpcCode: -32002,
      message: 'Resource not found',
      rpcData: { uri: 'a://1' },
      key: { name: 'notes' },
    })
  })

  it('that times out is cancelled on the server, with the reason', async () => {
    const harness = await new ConnectionHarness({ scripts: [{ 'tools/call': () => new Promise(() => {}) }] }).up()
    await expect(harness.request('tools/call', CALL, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'timeout',
      key: { name: 'notes' },
      message: 'timed out awaiting tools/call after 0s',
    })
    const call = await harness.server.saw('tools/call')
    expect(await harness.server.saw('notifications/cancelled')).toMatchObject({
      params: { requestId: 'id' in call ? call.id : undefined, reason: 'MCP request cancelled by caller' },
    })
  })

  it('that its caller gives up is cancelled on the server', async () => {
    const harness = await new ConnectionHarness({ scripts: [{ 'tools/call': () => new Promise(() => {}) }] }).up()
    const abort = new AbortController()
    const call = harness.request('tools/call', CALL, { signal: abort.signal })
    await harness.server.saw('tools/call')
    abort.abort()
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    await harness.server.saw('notifications/cancelled')
  })

  it('passes progress on to its caller only', async () => {
    const progressing: Script = async (params, { server }) => {
      const progressToken = (params._meta as JsonObject).progressToken ?? null
      await server.notify('notifications/progress', { progressToken, progress: 1, note: 'half' })
      await server.notify('notifications/progress', { progressToken: 'somebody else', progress: 2 })
      return {}
    }
    const harness = await new ConnectionHarness({ scripts: [{ 'tools/call': progressing }] }).up()
    const progress: JsonObject[] = []
    await harness.request('tools/call', CALL, { onProgress: (params: JsonObject) => progress.push(params) })
    expect(progress).toMatchObject([{ progress: 1, note: 'half' }])
    expect(harness.route.warnings).toEqual(["MCP server 'notes': progress of a call that is not out"])
  })

  it('of a closed connection says so', async () => {
    const harness = await new ConnectionHarness().up()
    await harness.connection.close()
    await expect(harness.request('tools/list')).rejects.toMatchObject({ code: 'closed' })
  })
})
