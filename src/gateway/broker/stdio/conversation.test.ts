import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../protocol/index.js'
import { GOODBYE } from '../wire/session-frames.js'
import { clientFrame } from './client-frame.js'
import { Conversation } from './conversation.js'

const line = (message: JsonObject | JsonObject[]) =>
  Buffer.from(JSON.stringify(Array.isArray(message) ? message : { jsonrpc: '2.0', ...message }))

/** A conversation and both sides' ways to say something in it. */
function talk() {
  const conversation = new Conversation()
  return {
    conversation,
    client: (...messages: JsonObject[]) => messages.map((message) => conversation.sending(clientFrame(line(message)))),
    broker: (...messages: JsonObject[]) => messages.map((message) => conversation.received(line(message))),
    lost: () => {
      const { tell, again } = conversation.lost()
      return { tell: tell.map((text) => JSON.parse(text)), again: again.map((text) => JSON.parse(text.toString())) }
    },
    reopening: () => conversation.reopening().map((text) => JSON.parse(text)),
    news: () => conversation.news().map((text) => JSON.parse(text).method),
  }
}

const PARAMS = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } }
const RESULT = { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true }, logging: {} } }
const initialize = { id: 0, method: 'initialize', params: PARAMS }

function opened() {
  const session = talk()
  session.client(initialize, { method: 'notifications/initialized' })
  session.broker({ id: 0, result: RESULT })
  return session
}

describe('a session whose broker ended', () => {
  it('repeats what reads, refuses what may have acted, and what nobody here knows', () => {
    const { client, lost } = opened()
    client(
      { id: 1, method: 'tools/list' },
      { id: 'two', method: 'tools/call', params: { name: 'x' } },
      { id: 3, method: 'resources/read', params: { uri: 'a:b' } },
      { id: 4, method: 'tasks/cancel', params: { taskId: 't' } },
    )
    const { tell, again } = lost()
    expect(again.map(({ id }) => id)).toEqual([1, 3])
    expect(tell).toMatchObject([
      { id: 'two', error: { code: -32603, data: { code: 'broker_lost' } } },
      { id: 4, error: { data: { code: 'broker_lost' } } },
    ])
  })

  it('owes nothing for what was answered or given up', () => {
    const { client, broker, lost, conversation } = opened()
    client({ id: 1, method: 'tools/call' }, { id: 2, method: 'tools/call' })
    expect(conversation.unanswered).toBe(2)
    broker({ id: 1, error: { code: -1, message: 'no' } })
    client({ method: 'notifications/cancelled', params: { requestId: 2 } })
    expect(conversation.unanswered).toBe(0)
    expect(lost()).toEqual({ tell: [], again: [] })
  })

  it('is opened as it was: initialize, log level, subscriptions that still hold, and nothing of it reaches the client', () => {
    const { client, broker, reopening, lost, news } = opened()
    client(
      { id: 1, method: 'resources/subscribe', params: { uri: 'a:1' } },
      { id: 2, method: 'resources/subscribe', params: { uri: 'a:2' } },
      { id: 3, method: 'resources/subscribe', params: { uri: 'a:3' } },
      { id: 4, method: 'resources/unsubscribe', params: { uri: 'a:2' } },
      { id: 5, method: 'logging/setLevel', params: { level: 'error' } },
    )
    broker(
      { id: 1, result: {} },
      { id: 2, result: {} },
      { id: 3, error: { code: -1, message: 'no' } },
      { id: 4, result: {} },
      { id: 5, result: {} },
    )
    lost()
    const again = reopening()
    expect(again.map(({ method, params }) => [method, params])).toEqual([
      ['initialize', PARAMS],
      ['notifications/initialized', undefined],
      ['logging/setLevel', { level: 'error' }],
      ['resources/subscribe', { uri: 'a:1' }],
    ])
    const answers = again.filter(({ id }) => id !== undefined).map(({ id }) => ({ id, result: RESULT }))
    expect(broker(...answers)).toEqual(answers.map(() => ({ kind: 'instead', lines: [] })))
    expect(news()).toEqual(['notifications/tools/list_changed'])
  })

  it('that was not opened yet is not opened by us: the client’s own request goes again', () => {
    const { client, lost, reopening, news } = talk()
    client(initialize)
    expect(lost().again).toMatchObject([initialize])
    expect([reopening(), news()]).toEqual([[], []])
  })

  it('can not go on where another revision would be spoken', () => {
    const { broker, lost, reopening } = opened()
    lost()
    const [{ id }] = reopening()
    expect(() => broker({ id, result: { ...RESULT, protocolVersion: '2024-11-05' } })).toThrowError(
      /can't carry this session on/,
    )
  })

  it('takes back its questions, and lets no late answer through', () => {
    const { client, broker, lost } = opened()
    broker({ id: 1, method: 'elicitation/create', params: {} }, { id: 2, method: 'ping' })
    expect(client({ id: 2, result: {} })).toEqual([true])
    expect(lost().tell).toMatchObject([{ method: 'notifications/cancelled', params: { requestId: 1 } }])
    expect(client({ id: 1, result: {} }, { id: 1, result: {} })).toEqual([false, true])
  })

  it('repeats no batch', () => {
    const { conversation, lost } = opened()
    conversation.sending(
      clientFrame(
        line([
          { jsonrpc: '2.0', id: 1, method: 'ping' },
          { jsonrpc: '2.0', id: 2, method: 'tools/call' },
        ]),
      ),
    )
    expect(lost()).toMatchObject({ again: [], tell: [{ id: 1 }, { id: 2 }] })
  })
})

describe('a stream of changes', () => {
  const listen = { id: 7, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }
  const tagged = { _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } }
  const acknowledged = {
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['a:b'] }, ...tagged },
  }

  it('is opened again, and tells what may have happened in place of a second acknowledgement', () => {
    const { client, broker, lost, conversation } = talk()
    client(listen)
    expect(broker(acknowledged)).toEqual([{ kind: 'pass' }])
    expect(conversation.unanswered).toBe(0)
    expect(lost().again).toMatchObject([listen])
    client(listen)
    const [passing] = broker(acknowledged)
    expect(passing?.kind === 'instead' && passing.lines.map((text) => JSON.parse(text))).toMatchObject([
      { method: 'notifications/tools/list_changed', params: tagged },
      { method: 'notifications/resources/updated', params: { uri: 'a:b', ...tagged } },
    ])
    expect(broker(acknowledged)).toEqual([{ kind: 'pass' }])
  })

  it('does not end for the client when the broker says goodbye and ends it', () => {
    const { client, broker, lost } = talk()
    client(listen)
    expect(broker({ method: GOODBYE, params: { reason: 'handover' } })).toEqual([
      { kind: 'goodbye', reason: 'handover' },
    ])
    expect(broker({ id: 7, result: tagged })).toEqual([{ kind: 'instead', lines: [] }])
    expect(lost().again).toMatchObject([listen])
  })
})

describe('frames', () => {
  it('pass whatever they hold: results of any size, ids of any sort, text that is no JSON', () => {
    const { conversation, client, broker } = opened()
    expect(conversation.sending(clientFrame(Buffer.from('no json')))).toBe(true)
    client({ id: 'a "quoted" \\ id', method: 'tools/list' }, { id: 1.5, method: 'tools/list' })
    expect(conversation.unanswered).toBe(2)
    expect(broker({ id: 'a "quoted" \\ id', result: { text: 'x'.repeat(100_000) } }, { id: 1.5, result: {} })).toEqual([
      { kind: 'pass' },
      { kind: 'pass' },
    ])
    expect(conversation.unanswered).toBe(0)
    conversation.received(Buffer.from('[{"jsonrpc":"2.0","id":9,"result":{}}]'))
    expect(conversation.received(Buffer.from('{"other":1}'))).toEqual({ kind: 'pass' })
  })
})
