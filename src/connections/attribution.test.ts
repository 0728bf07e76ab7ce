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
  it('are for the one session that has calls out, else for all', () => {
    const attribution = of('stdio')
    attribution.agreed('modern')
    const routes = new Routes(serverKey('s'), attribution, new ManualTimers(), async () => {})
    const [a, b] = [new RecordingRoute(), new RecordingRoute()]
    for (const route of [a, b]) routes.join(route)
    const say = (data: string) =>
      routes.notify({ method: 'notifications/message', params: { level: 'info', data }, caller: undefined })
    const calls = [routes.turns.take(a), routes.turns.take(a)]
    say('a alone')
    const other = routes.turns.take(b)
    say('anybody')
    for (const turn of [...calls, other]) turn?.done()
    say('nobody')
    const heard = ({ news }: RecordingRoute) =>
      news.flatMap((one) => (one.type === 'notification' ? [one.notification.params?.data] : []))
    expect([heard(a), heard(b)]).toEqual([
      ['a alone', 'anybody', 'nobody'],
      ['anybody', 'nobody'],
    ])
  })
})
