import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { eventually } from '../fixtures/stdio/running.js'
import { BrokerHome } from './broker/home.js'
import { buildCli } from './built-cli.js'

let home: BrokerHome
beforeAll(buildCli)
beforeEach(async () => {
  home = await BrokerHome.make({ notes: ['--list-changed'] })
})
afterEach(() => home[Symbol.asyncDispose]())

/** Every request says all of itself; there is no session to open. */
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const modern = (params: JsonObject = {}): JsonObject => ({ ...params, _meta: META })
const call = (name: string, args: JsonObject = {}) => modern({ name, arguments: args })

describe('a client of the 2026-07-28 revision', () => {
  it('is served from the broker, and goes on with the next one without a word', async () => {
    const client = home.client()
    expect(await client.ask('server/discover', modern())).toMatchObject({
      result: { supportedVersions: expect.arrayContaining(['2026-07-28']) },
    })
    expect(await client.ask('tools/call', call('notes__echo', { message: 'one' }))).toMatchObject({
      result: { resultType: 'complete', content: [{ text: 'one' }] },
    })
    process.kill(await home.brokerPid(), 'SIGKILL')
    await eventually(async () => expect(await home.sessions()).toMatchObject([{ resumed: 1 }]))
    expect(await client.ask('tools/call', call('notes__echo', { message: 'two' }))).toMatchObject({
      result: { content: [{ text: 'two' }] },
    })
    expect(client.heard.filter(({ method }) => method === 'notifications/tools/list_changed')).toEqual([])
  })

  it('keeps its stream of changes over a broken broker: one acknowledgement, and news of what it may have missed', async () => {
    const client = home.client()
    await client.ask('tools/list', modern())
    const filter = { notifications: { toolsListChanged: true } }
    const stream = client.begin('subscriptions/listen', modern(filter))
    await client.notified('notifications/subscriptions/acknowledged')
    process.kill(await home.brokerPid(), 'SIGKILL')
    const news = await client.notified('notifications/tools/list_changed')
    expect(news).toMatchObject({ params: { _meta: { 'io.modelcontextprotocol/subscriptionId': stream } } })

    await client.ask('tools/call', call('notes__add_tool', { name: 'extra' }))
    await eventually(() => expect(client.times('notifications/tools/list_changed')).toBeGreaterThan(1))
    expect(client.times('notifications/subscriptions/acknowledged')).toBe(1)
    expect(client.heard.some(({ id }) => id === stream)).toBe(false)
    expect(await client.leave()).toEqual({ code: 0, signal: null })
  })

  it('keeps its stream when the broker is stopped, and has it again with its next request', async () => {
    const client = home.client()
    const stream = client.begin('subscriptions/listen', modern({ notifications: { toolsListChanged: true } }))
    await client.notified('notifications/subscriptions/acknowledged')
    await home.reeve(['broker', 'stop'])
    expect(await client.ask('tools/call', call('notes__add_tool', { name: 'extra' }))).toMatchObject({ result: {} })
    await client.notified('notifications/tools/list_changed')
    expect(client.heard.some(({ id }) => id === stream)).toBe(false)
  })
})
