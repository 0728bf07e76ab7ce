import { describe, expect, it } from 'vitest'
import { ConnectionHarness, RecordingRoute } from '../../test/fixtures/connections/harness.js'
import { settle } from '../../test/fixtures/connections/manual-timers.js'
import { FailingTransport, gate, type Script } from '../../test/fixtures/connections/scripted-server.js'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { SessionExpiredError } from '../errors.js'
import type { JsonObject, Transport } from '../protocol/index.js'
import type { FromServer } from './types.js'

const CALL = { name: 'a' }

/** Calls stay open until told otherwise. */
function holding() {
  const over = gate()
  const script: Record<string, Script> = { 'tools/call': () => over.passed.then(() => ({ done: true })) }
  return { script, over }
}

/** Makes every message of the server come in on the response stream of this request. */
function relatedTo(id: () => number | undefined): (transport: Transport) => Transport {
  return (transport) => {
    const wrapped = new FailingTransport(transport, () => undefined)
    return new Proxy(wrapped, {
      set(target, member, value) {
        if (member !== 'onmessage') return Reflect.set(target, member, value, target)
        target.onmessage = (message) => {
          const related = id()
          value(message, related === undefined ? {} : { relatedTo: related })
        }
        return true
      },
      get(target, member) {
        const value = Reflect.get(target, member, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
}

describe('what a server asks', () => {
  it('is answered by its holder, as the holder answers', async () => {
    const asked: FromServer[] = []
    const harness = await new ConnectionHarness({
      onRequest: async (request) => {
        asked.push(request)
        return { action: 'accept', _meta: { kept: 1 } }
      },
    }).up()
    expect(await harness.server.ask('elicitation/create', { message: 'Sure?' })).toMatchObject({
      result: { action: 'accept', _meta: { kept: 1 } },
    })
    expect(asked).toEqual([
      {
        key: { name: 'notes', environment: null },
        method: 'elicitation/create',
        params: { message: 'Sure?' },
        origin: undefined,
        requestId: 'ask-0',
      },
    ])
  })

  it('gets method-not-found when nobody answers, and an answer when it is a ping', async () => {
    const harness = await new ConnectionHarness().up()
    expect(await harness.server.ask('sampling/createMessage')).toMatchObject({ error: { code: -32601 } })
    expect(await harness.server.ask('ping')).toMatchObject({ result: {} })
  })

  it('during the startup is answered too', async () => {
    const harness = new ConnectionHarness({
      onRequest: async () => ({ roots: [] }),
      scripts: [
        {
          'tools/list': async (_params, { server }) => {
            const answer = await server.ask('roots/list')
            return { tools: [], _meta: { answer: 'result' in answer ? answer.result : null } }
          },
        },
      ],
    })
    await harness.up()
    expect(harness.connection.offer.inventory?.toolList).toEqual({ _meta: { answer: { roots: [] } } })
  })

  it('over stdio belongs to the only call that is out', async () => {
    const { script, over } = holding()
    const origins: unknown[] = []
    const harness = await new ConnectionHarness({
      scripts: [script],
      onRequest: async ({ origin }) => {
        origins.push(origin)
        return {}
      },
    }).up()
    const first = harness.request('tools/call', CALL, { origin: 'first' })
    await harness.server.saw('tools/call')
    await harness.server.ask('elicitation/create')
    const second = harness.request('tools/call', CALL, { origin: 'second' })
    await settle()
    await harness.server.ask('elicitation/create')
    over.open()
    await Promise.all([first, second])
    await harness.server.ask('elicitation/create')
    expect(origins).toEqual(['first', undefined, undefined])
  })

  it('over HTTP belongs to the call whose stream carries it, and to none on the standing stream', async () => {
    const { script, over } = holding()
    const origins: unknown[] = []
    let related: number | undefined
    const harness = await new ConnectionHarness({
      server: httpServer('docs'),
      scripts: [script],
      through: relatedTo(() => related),
      onRequest: async ({ origin }) => {
        origins.push(origin)
        return {}
      },
    }).up()
    const calls = ['first', 'second'].map((origin) => harness.request('tools/call', CALL, { origin }))
    await settle()
    const ids = harness.server.received.flatMap((message) =>
      'method' in message && message.method === 'tools/call' && 'id' in message ? [Number(message.id)] : [],
    )
    for (related of [ids[1], ids[0], undefined]) await harness.server.ask('elicitation/create')
    related = undefined
    over.open()
    await Promise.all(calls)
    expect(origins).toEqual(['second', 'first', undefined])
  })

  it('over HTTP belongs to no call without a stream, not even to the only one that is out', async () => {
    const { script, over } = holding()
    const origins: unknown[] = []
    const harness = await new ConnectionHarness({
      server: httpServer('docs'),
      scripts: [script],
      onRequest: async ({ origin }) => {
        origins.push(origin)
        return {}
      },
    }).up()
    const call = harness.request('tools/call', CALL, { origin: 'only' })
    await harness.server.saw('tools/call')
    await harness.server.ask('elicitation/create')
    over.open()
    await call
    expect(origins).toEqual([undefined])
  })

  it('stops the clock of a call also when that is sent again afterwards', async () => {
    const answer = gate<JsonObject>()
    const expired = gate()
    const harness = await new ConnectionHarness({
      server: httpServer('docs'),
      onRequest: () => answer.passed,
      scripts: [{ 'tools/call': () => new Promise((resolve) => setTimeout(resolve, 10, { done: true })) }],
      through: (transport, attempt) =>
        new FailingTransport(transport, (message) =>
          attempt === 0 && 'method' in message && message.method === 'tools/call'
            ? expired.passed.then(() => new SessionExpiredError())
            : undefined,
        ),
    }).up()
    const call = harness.request('tools/call', CALL, { timeoutMs: 100 })
    const asked = harness.server.ask('elicitation/create')
    await new Promise((resolve) => setTimeout(resolve, 150))
    answer.open({})
    await asked
    expired.open()
    expect(await call).toEqual({ done: true })
  })

  it('stops the clock of the calls that are out, however often it asks at once', async () => {
    const answer = gate<JsonObject>()
    const finish = gate()
    const harness = await new ConnectionHarness({
      onRequest: () => answer.passed,
      scripts: [{ 'tools/call': () => finish.passed.then(() => ({ done: true })) }],
    }).up()
    const call = harness.request('tools/call', CALL, { timeoutMs: 60 })
    await harness.server.saw('tools/call')
    const asked = [harness.server.ask('elicitation/create'), harness.server.ask('elicitation/create')]
    await new Promise((resolve) => setTimeout(resolve, 150))
    answer.open({})
    await Promise.all(asked)
    finish.open()
    expect(await call).toEqual({ done: true })
  })
})

describe('a connection that several hold', () => {
  it('asks the holder whose call it is, and nobody when that is not known', async () => {
    const { script, over } = holding()
    const harness = await new ConnectionHarness({ scripts: [script], onRequest: async () => ({ who: 'first' }) }).up()
    const second = new RecordingRoute(async () => ({ who: 'second' }))
    harness.connection.join(second)
    expect(await harness.server.ask('elicitation/create')).toMatchObject({ error: { code: -32603 } })
    const call = harness.connection.request(second, 'tools/call', CALL)
    await harness.server.saw('tools/call')
    expect(await harness.server.ask('elicitation/create')).toMatchObject({ result: { who: 'second' } })
    over.open()
    await call
  })

  it('asks nobody in the place of a holder that left', async () => {
    const { script, over } = holding()
    const harness = await new ConnectionHarness({ scripts: [script], onRequest: async () => ({ who: 'first' }) }).up()
    const second = new RecordingRoute(async () => ({ who: 'second' }))
    harness.connection.join(second)
    const call = harness.connection.request(second, 'tools/call', CALL)
    await harness.server.saw('tools/call')
    harness.connection.leave(second)
    expect(await harness.server.ask('elicitation/create')).toMatchObject({ error: { code: -32601 } })
    over.open()
    await call
  })

  it('tells the causing one alone what the server notifies in its call, and all of them what it notifies later', async () => {
    const { script, over } = holding()
    const harness = await new ConnectionHarness({ scripts: [script] }).up()
    const second = new RecordingRoute()
    harness.connection.join(second)
    const call = harness.connection.request(second, 'tools/call', CALL, { origin: 'mine' })
    await harness.server.saw('tools/call')
    await harness.server.notify('notifications/message', { level: 'info', data: 'hello' })
    over.open()
    await call
    await harness.server.notify('notifications/message', { level: 'info', data: 'idle' })
    await settle()
    const heard = (route: RecordingRoute) =>
      route.news.flatMap((news) => (news.type === 'notification' ? [news.notification.origin] : []))
    expect([heard(harness.route), heard(second)]).toEqual([[undefined], ['mine', undefined]])
  })
})

describe('what comes in on the stream of a call that is over', () => {
  it('is still for the holder of that call alone', async () => {
    let related: number | undefined
    const harness = await new ConnectionHarness({
      server: httpServer('docs'),
      scripts: [{ 'tools/call': (_params, { id }) => ({ id }) }],
      through: relatedTo(() => related),
      onRequest: async () => ({ who: 'first' }),
    }).up()
    const second = new RecordingRoute(async () => ({ who: 'second' }))
    harness.connection.join(second)
    const { id } = await harness.connection.request(second, 'tools/call', CALL, { origin: 'mine' })
    related = Number(id)
    await harness.server.notify('notifications/message', { level: 'info', data: 'late' })
    expect(await harness.server.ask('elicitation/create')).toMatchObject({ result: { who: 'second' } })
    const heard = (route: RecordingRoute) =>
      route.news.flatMap((news) => (news.type === 'notification' ? [news.notification.origin] : []))
    expect([heard(harness.route), heard(second)]).toEqual([[], ['mine']])
  })
})

describe('a server that breaks the rules', () => {
  it('with answers that nobody asked for is named, and harms nothing', async () => {
    const harness = await new ConnectionHarness({
      server: stdioServer('odd'),
      scripts: [{ 'tools/call': (_params, { id }) => ({ id }) }],
    }).up()
    const { transport } = harness.server
    await transport.send({ jsonrpc: '2.0', id: 999, result: {} })
    await transport.send({ jsonrpc: '2.0', id: "another server's", result: {} })
    const answer = await harness.request('tools/call', CALL)
    await transport.send({ jsonrpc: '2.0', id: Number(answer.id), result: {} })
    await settle()
    expect(harness.route.warnings).toEqual([
      "MCP server 'odd': an answer to 999, which nobody asked",
      `MCP server 'odd': an answer to "another server's", which nobody asked`,
      `MCP server 'odd': an answer to ${answer.id}, which nobody asked`,
    ])
    expect(harness.state.state).toBe('ready')
  })

  it('over and over is named once for each kind, and not without end', async () => {
    const harness = await new ConnectionHarness().up()
    for (let id = 1000; id < 1300; id += 1) {
      await harness.server.transport.send({ jsonrpc: '2.0', id, result: {} })
      await harness.server.transport.send({ jsonrpc: '2.0', id: 7777, result: {} })
    }
    await settle()
    expect(harness.route.warnings).toHaveLength(101)
    expect(harness.route.warnings.at(-1)).toContain('more than 100 different warnings')
    expect(harness.route.warnings.filter((warning) => warning.includes('7777'))).toHaveLength(1)
  })
})
