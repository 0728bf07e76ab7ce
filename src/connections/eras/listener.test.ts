import { describe, expect, it } from 'vitest'
import { ConnectionHarness, type HarnessOptions, tool } from '../../../test/fixtures/connections/harness.js'
import { settle } from '../../../test/fixtures/connections/manual-timers.js'
import { modern } from '../../../test/fixtures/connections/modern-script.js'
import { Refusal, type Script, type ScriptedServer } from '../../../test/fixtures/connections/scripted-server.js'
import { type JsonObject, MODERN_META } from '../../protocol/index.js'

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: false },
}

interface Stream {
  readonly id: string | number
  readonly filter: JsonObject
  readonly server: ScriptedServer
  /** Ends it well, or with an error. */
  end(error?: Refusal): void
}

/** A modern server whose subscriptions a test holds in its hands. */
class Listening {
  readonly streams: Stream[] = []
  readonly harness: ConnectionHarness
  readonly #honour: (asked: JsonObject) => JsonObject | undefined

  constructor(
    options: HarnessOptions & {
      capabilities?: JsonObject
      honour?: (asked: JsonObject) => JsonObject | undefined
    } = {},
  ) {
    const { capabilities = CAPABILITIES, honour = (asked) => asked, ...rest } = options
    this.#honour = honour
    const script = { 'subscriptions/listen': this.#listen, 'tools/list': () => ({ tools: [tool('a')] }) }
    this.harness = new ConnectionHarness({ scripts: [modern(script, { capabilities })], ...rest })
  }

  readonly #listen: Script = (params, { id, server }) =>
    new Promise((resolve, reject) => {
      const filter = params.notifications as JsonObject
      const end = (error?: Refusal) =>
        error === undefined
          ? resolve({ resultType: 'complete', _meta: { [MODERN_META.subscriptionId]: id } })
          : reject(error)
      this.streams.push({ id, filter, server, end })
      const honoured = this.#honour(filter)
      if (honoured !== undefined) void this.say(this.streams.length - 1, 'acknowledged', { notifications: honoured })
    })

  get filters(): JsonObject[] {
    return this.streams.map(({ filter }) => filter)
  }

  /** Those that were given up by the client. */
  get cancelled(): unknown[] {
    return this.harness.server.received.flatMap((message) =>
      'method' in message && message.method === 'notifications/cancelled' ? [message.params?.requestId] : [],
    )
  }

  say(stream: number, what: string, params: JsonObject = {}): Promise<void> {
    const { id, server } = this.streams[stream] ?? {}
    const method = what === 'acknowledged' ? 'notifications/subscriptions/acknowledged' : what
    const _meta = { ...(params._meta as JsonObject), [MODERN_META.subscriptionId]: id ?? null }
    return server?.notify(method, { ...params, _meta }) ?? Promise.resolve()
  }

  subscribe(uri: string, options = {}): Promise<JsonObject> {
    return this.harness.request('resources/subscribe', { uri }, options)
  }

  get updates(): (JsonObject | undefined)[] {
    return this.harness.route.news.flatMap((news) =>
      news.type === 'notification' && news.notification.method === 'notifications/resources/updated'
        ? [news.notification.params]
        : [],
    )
  }

  lists(method = 'tools/list'): number {
    return this.harness.server.count(method)
  }

  async up(): Promise<this> {
    await this.harness.up()
    return this
  }
}

describe('listening to a modern server', () => {
  it('asks for every listing of which it declares that it tells the changes', async () => {
    const { filters } = await new Listening().up()
    expect(filters).toEqual([{ toolsListChanged: true, promptsListChanged: true }])
  })

  it('opens nothing at a server that declares nothing', async () => {
    const { filters } = await new Listening({ capabilities: { tools: {} } }).up()
    expect(filters).toEqual([])
  })

  it('lists anew what changed', async () => {
    const listening = await new Listening().up()
    await listening.say(0, 'notifications/tools/list_changed')
    await listening.harness.timers.advance(100)
    expect([listening.lists(), listening.lists('prompts/list')]).toEqual([2, 1])
  })

  it('tells callers of anything else as a legacy server would have said it', async () => {
    const listening = await new Listening().up()
    await listening.subscribe('file:///a')
    await listening.say(1, 'notifications/resources/updated', { uri: 'file:///a', title: 'A' })
    await listening.say(1, 'notifications/resources/updated', { uri: 'file:///a', _meta: { 'x/y': 1 } })
    await settle()
    expect(listening.updates).toEqual([
      { uri: 'file:///a', title: 'A' },
      { uri: 'file:///a', _meta: { 'x/y': 1 } },
    ])
  })
})

describe('a subscription to a resource', () => {
  it('takes the place of the one before, which is given up once the new one is acknowledged', async () => {
    const listening = await new Listening().up()
    await expect(listening.subscribe('file:///a')).resolves.toEqual({})
    expect(listening.filters[1]).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['file:///a'],
    })
    await settle()
    expect(listening.cancelled).toEqual([listening.streams[0]?.id])
  })

  it('hears the old one until then, and nothing twice', async () => {
    let honours = true
    const listening = await new Listening({ honour: (asked) => (honours ? asked : undefined) }).up()
    await listening.subscribe('file:///a')
    honours = false
    const second = listening.subscribe('file:///b')
    await settle()
    await listening.say(1, 'notifications/resources/updated', { uri: 'file:///a', n: 1 })
    await listening.say(2, 'notifications/resources/updated', { uri: 'file:///a', n: 1 })
    await listening.say(2, 'acknowledged', { notifications: listening.filters[2] ?? {} })
    await listening.say(2, 'notifications/resources/updated', { uri: 'file:///b', n: 2 })
    await second
    await listening.say(1, 'notifications/resources/updated', { uri: 'file:///a', n: 3 })
    await listening.say(2, 'notifications/resources/updated', { uri: 'file:///a', n: 3 })
    await settle()
    expect(listening.updates).toEqual([
      { uri: 'file:///a', n: 1 },
      { uri: 'file:///b', n: 2 },
      { uri: 'file:///a', n: 3 },
    ])
  })

  it('opens one stream for many that are asked for together', async () => {
    const listening = await new Listening().up()
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => listening.subscribe(`file:///${name}`)))
    expect(listening.streams.length).toBeLessThanOrEqual(3)
    expect(listening.filters.at(-1)?.resourceSubscriptions).toHaveLength(4)
  })

  it('ends with its last subscriber', async () => {
    const listening = await new Listening({ capabilities: { resources: { subscribe: true } } }).up()
    await listening.subscribe('file:///a')
    await listening.subscribe('file:///b')
    await listening.harness.request('resources/unsubscribe', { uri: 'file:///a' })
    await settle()
    expect(listening.filters.at(-1)).toEqual({ resourceSubscriptions: ['file:///b'] })
    await listening.harness.request('resources/unsubscribe', { uri: 'file:///b' })
    await settle()
    expect(listening.streams).toHaveLength(3)
    expect(listening.cancelled).toHaveLength(3)
  })

  it('is refused when the server does not acknowledge it; the rest stays', async () => {
    const listening = await new Listening({
      honour: ({ resourceSubscriptions: _, ...asked }) => asked,
    }).up()
    await expect(listening.subscribe('file:///a')).rejects.toMatchObject({ rpcCode: -32602 })
    await settle()
    expect(listening.filters.at(-1)).toMatchObject({ toolsListChanged: true })
    await listening.say(listening.streams.length - 1, 'notifications/tools/list_changed')
    await listening.harness.timers.advance(100)
    expect(listening.lists()).toBe(2)
    expect(listening.streams.length).toBeLessThanOrEqual(3)
  })

  it('is refused when the server offers none, without asking', async () => {
    const listening = await new Listening({ capabilities: { resources: {} } }).up()
    await expect(listening.subscribe('file:///a')).rejects.toMatchObject({ rpcCode: -32601 })
    expect(listening.streams).toEqual([])
  })

  it('fails at once with the error of the server, and not for ever', async () => {
    const listening = await new Listening({ honour: () => undefined }).up()
    const first = listening.subscribe('file:///a')
    first.catch(() => {})
    listening.streams[0]?.end(new Refusal(-32603, 'Subscription limit reached'))
    await settle()
    listening.streams[1]?.end(new Refusal(-32603, 'Subscription limit reached'))
    await expect(first).rejects.toMatchObject({ rpcCode: -32603, message: 'Subscription limit reached' })
  })

  it('ends with the time and the signal of whoever asked', async () => {
    const listening = await new Listening({ honour: () => undefined }).up()
    const late = listening.subscribe('file:///a', { timeoutMs: 5_000 })
    late.catch(() => {})
    await listening.harness.timers.advance(5_000)
    await expect(late).rejects.toMatchObject({ code: 'timeout' })
    const abort = new AbortController()
    const left = listening.subscribe('file:///b', { signal: abort.signal })
    left.catch(() => {})
    abort.abort()
    await expect(left).rejects.toMatchObject({ code: 'cancelled' })
  })
})

describe('a subscription that ends', () => {
  it('is opened again after a pause that grows, and the lists are not stormed', async () => {
    const listening = await new Listening().up()
    const { timers } = listening.harness
    const started = timers.now()
    const pauses: number[] = []
    for (let round = 0; round < 10; round += 1) {
      const ended = timers.now()
      listening.streams[round]?.end()
      await settle()
      while (listening.streams.length === round + 1) await timers.advance(100)
      pauses.push(timers.now() - ended)
    }
    for (const [round, seconds] of [1, 2, 4, 8, 16, 30, 30, 30, 30, 30].entries()) {
      // A tenth more or less by chance, and the step of this test.
      expect(pauses[round]).toBeGreaterThanOrEqual(seconds * 900)
      expect(pauses[round]).toBeLessThanOrEqual(seconds * 1_100 + 100)
    }
    const minutes = (timers.now() - started) / 60_000
    expect(listening.lists()).toBeLessThanOrEqual(minutes + 2)
  })

  it('by a notification, as over stdio, is opened again too', async () => {
    const listening = await new Listening().up()
    await listening.harness.server.notify('notifications/cancelled', { requestId: listening.streams[0]?.id ?? 0 })
    await listening.harness.timers.advance(1_200)
    expect(listening.streams).toHaveLength(2)
    expect(listening.cancelled).toEqual([])
  })

  it('lists once what may have changed meanwhile', async () => {
    const listening = await new Listening().up()
    listening.streams[0]?.end()
    await listening.harness.timers.advance(2_000)
    expect(listening.streams).toHaveLength(2)
    expect(listening.lists()).toBe(2)
  })

  it('says nothing is left alone', async () => {
    const listening = await new Listening({ honour: () => ({}) }).up()
    listening.streams[0]?.end()
    await listening.harness.timers.advance(600_000)
    expect(listening.streams).toHaveLength(1)
  })

  it('honours nothing and stays open is given up', async () => {
    const listening = await new Listening({ honour: () => ({}) }).up()
    expect(listening.cancelled).toEqual([listening.streams[0]?.id])
    await listening.harness.timers.advance(600_000)
    expect(listening.streams).toHaveLength(1)
  })

  it('is not known to the server is not asked for again', async () => {
    const listening = await new Listening({ honour: () => undefined }).up()
    listening.streams[0]?.end(new Refusal(-32601, 'Method not found'))
    await listening.harness.timers.advance(600_000)
    expect(listening.streams).toHaveLength(1)
    expect(listening.harness.route.warnings).toEqual([expect.stringContaining('Method not found')])
  })

  it('is never acknowledged is given up, and tried again', async () => {
    const listening = await new Listening({ honour: () => undefined }).up()
    await listening.harness.timers.advance(31_200)
    expect(listening.cancelled).toEqual([listening.streams[0]?.id])
    expect(listening.streams).toHaveLength(2)
  })

  it('with the process comes back with it, and what was subscribed to', async () => {
    const listening = await new Listening().up()
    await listening.subscribe('file:///a')
    await listening.harness.server.crash()
    await listening.harness.timers.advance(1_200)
    expect(listening.harness.attempts).toHaveLength(2)
    expect(listening.filters.at(-1)).toMatchObject({ toolsListChanged: true, resourceSubscriptions: ['file:///a'] })
    const open = listening.streams.length
    await listening.harness.connection.close()
    await listening.harness.timers.advance(600_000)
    expect(listening.streams).toHaveLength(open)
  })
})
