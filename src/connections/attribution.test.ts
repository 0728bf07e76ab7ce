import { describe, expect, it } from 'vitest'
import { RecordingRoute } from '../../test/fixtures/connections/harness.js'
import { ManualTimers } from '../../test/fixtures/connections/manual-timers.js'
import { serverKey } from '../identity/index.js'
import { Attribution, type AttributionFacts } from './attribution.js'
import { Routes } from './routes.js'

const ASKABLE = { elicitation: {} }

const of = (transport: AttributionFacts['transport'], clientCapabilities = ASKABLE as object) =>
  new Attribution({ transport, clientCapabilities: { ...clientCapabilities } })

describe('requests take turns', () => {
  it.each<[string, boolean, AttributionFacts['transport'], object]>([
    ['over stdio, where a client can be asked', true, 'stdio', ASKABLE],
    ['over stdio, where its roots can be', true, 'stdio', { roots: {} }],
    ['over stdio, where nothing can be asked', false, 'stdio', { experimental: {} }],
    ['over HTTP with streams', false, 'streamable_http', ASKABLE],
    ['over the older HTTP transport, which has one stream for all', true, 'sse', ASKABLE],
  ])('%s: %s', (_where, exclusive, transport, capabilities) => {
    expect(of(transport, capabilities).exclusive).toBe(exclusive)
  })

  it('no more when the server turns out to be of the modern era, and again when it is a legacy one after all', () => {
    const attribution = of('stdio')
    attribution.agreed('modern')
    expect(attribution.exclusive).toBe(false)
    attribution.agreed('legacy')
    expect(attribution.exclusive).toBe(true)
  })

  it('over HTTP once a question came that no stream carried; roots may be asked for beside any call', () => {
    const attribution = of('streamable_http')
    attribution.astray('roots/list')
    expect(attribution.exclusive).toBe(false)
    attribution.astray('sampling/createMessage')
    expect(attribution.exclusive).toBe(true)
  })
})

describe('log messages of a modern server over stdio', () => {
  const shared = () => {
    const attribution = of('stdio')
    attribution.agreed('modern')
    const routes = new Routes(serverKey('s'), attribution, new ManualTimers(), async () => {})
    const [a, b] = [new RecordingRoute(), new RecordingRoute()]
    for (const route of [a, b]) routes.join(route)
    const take = (route: RecordingRoute, logLevel?: string, origin?: unknown) =>
      routes.turns.take(routes.senderOf(route, { logLevel, origin }))
    const say = (data: string, level = 'info') =>
      routes.notify({ method: 'notifications/message', params: { level, data }, caller: undefined })
    const heard = () =>
      [a, b].map(({ news }) =>
        news.flatMap((one) =>
          one.type === 'notification' ? [[one.notification.params?.data, one.notification.origin]] : [],
        ),
      )
    return { routes, a, b, take, say, heard }
  }

  it('are for the one session that has calls out, and after the last of them for it still', () => {
    const { a, b, take, say, heard } = shared()
    const calls = [take(a, 'info', 1), take(a, 'info', 2)]
    say('during')
    expect(take(b)).toBeUndefined()
    for (const turn of calls) turn?.done()
    say('after')
    const next = take(b, 'info', 3)
    say('during the next')
    next?.done()
    expect([take(a), take(b)].includes(undefined)).toBe(false)
    expect(heard()).toEqual([
      [
        ['during', 2],
        ['after', 2],
      ],
      [['during the next', 3]],
    ])
  })

  it('go to a call that asked for their level, of several of one session', () => {
    const { a, take, say, heard } = shared()
    take(a, 'debug', 'all of it')
    take(a, 'error', 'errors')
    say('small', 'debug')
    say('big', 'critical')
    expect(heard()[0]).toEqual([
      ['small', 'all of it'],
      ['big', 'errors'],
    ])
  })

  it('are for nobody when the session that they are for has left', () => {
    const { routes, a, take, say, heard } = shared()
    take(a, 'info')
    routes.leave(a)
    say('too late')
    expect(heard()).toEqual([[], []])
  })

  it('that no call can have caused are for all', () => {
    const { say, heard } = shared()
    say('hello')
    expect(heard()).toEqual([[['hello', undefined]], [['hello', undefined]]])
  })
})
