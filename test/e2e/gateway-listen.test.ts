import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import type { RawStream } from './gateway/raw-http.js'
import { RawModern } from './gateway/raw-modern.js'

const FULL = (era: string) => fileURLToPath(new URL(`../fixtures/full/server-${era}.mjs`, import.meta.url))
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const COUNTER = 'reeve://notes/echo://counter'

let home: Home
let gateway: Gateway
beforeAll(async () => {
  home = await openHome((path) => ({
    notes: { args: ['--list-changed', '--record', `${path}/notes.record`] },
    files: { args: ['--list-changed'] },
    old: { script: FULL('2025'), args: ['--stdio'] },
    new: { script: FULL('2026'), args: ['--stdio'] },
  }))
  gateway = await openGateway(home.reeve)
  await client().result('server/discover')
  const connected = () => gateway.serving.sessions()[0]?.servers.filter(({ status }) => status === 'connected').length
  await vi.waitFor(() => expect(connected()).toBe(4), { timeout: 20_000 })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const client = (capabilities: JsonObject = {}) => new RawModern(gateway.url, { token: TOKEN, capabilities })

async function listen(notifications: JsonObject, id: string | number = 'l', capabilities: JsonObject = {}) {
  const stream = await client(capabilities).stream('subscriptions/listen', { notifications }, { id })
  return { stream, acknowledged: await stream.message() }
}

async function until(stream: RawStream, method: string): Promise<JsonObject> {
  for (;;) {
    const message = await stream.message()
    if (message.method === method) return message.params as JsonObject
  }
}

describe('subscriptions/listen', () => {
  it('acknowledges first what it agreed to, under the id of the request in its own type', async () => {
    for (const id of ['l', 7, 0, '7']) {
      const wanted = { toolsListChanged: true, promptsListChanged: false, unheardOf: true }
      const { stream, acknowledged } = await listen(wanted, id)
      expect(stream.response.headers['content-type']).toBe('text/event-stream')
      expect(acknowledged).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true }, _meta: { [SUBSCRIPTION]: id } },
      })
      stream.drop()
    }
    const { stream, acknowledged } = await listen({})
    expect(acknowledged).toMatchObject({ params: { notifications: {} } })
    stream.drop()
  })

  it.each([
    ['nothing', undefined],
    ['no filter', 'all'],
    ['a flag that is none', { toolsListChanged: 1 }],
    ['URIs that are none', { resourceSubscriptions: ['a:b', 7] }],
    ['URIs in no list', { resourceSubscriptions: 'a:b' }],
    ['more than anybody needs', { resourceSubscriptions: Array.from({ length: 1001 }, (_, index) => `a:${index}`) }],
  ])('refuses %s', async (_what, notifications) => {
    const answer = await client().request('subscriptions/listen', notifications === undefined ? {} : { notifications })
    expect(answer.json().error).toMatchObject({ code: -32602 })
  })

  it('tells of changed lists to those who asked, and to nobody else', async () => {
    const tools = await listen({ toolsListChanged: true }, 'tools')
    const prompts = await listen({ promptsListChanged: true }, 'prompts')
    await client().call('notes__add_tool', { name: 'fresh' })
    expect(await until(tools.stream, 'notifications/tools/list_changed')).toEqual({
      _meta: { [SUBSCRIPTION]: 'tools' },
    })
    await client().call('new__test_trigger_prompt_change')
    await until(prompts.stream, 'notifications/prompts/list_changed')
    expect(prompts.stream.events.map((event) => event.json().method)).not.toContain('notifications/tools/list_changed')
    await client().call('notes__remove_tool', { name: 'fresh' })
    tools.stream.drop()
    prompts.stream.drop()
  })

  it('watches resources of both eras under the names that were given, and agrees to no others', async () => {
    const uris = [COUNTER, 'reeve://new/test://watched-resource', 'reeve://nobody/x:y', 'nonsense']
    const { stream, acknowledged } = await listen({ resourceSubscriptions: uris })
    expect(acknowledged).toMatchObject({ params: { notifications: { resourceSubscriptions: uris.slice(0, 2) } } })
    expect(await client().call('notes__touch', { uri: 'echo://counter' })).toMatchObject({
      content: [{ text: 'sent' }],
    })
    expect(await until(stream, 'notifications/resources/updated')).toEqual({
      uri: COUNTER,
      _meta: { [SUBSCRIPTION]: 'l' },
    })
    await client().call('new__test_trigger_resource_update')
    expect(await until(stream, 'notifications/resources/updated')).toMatchObject({ uri: uris[1] })
    stream.drop()
  })

  it('is subscribed to a resource once for all streams, until the last of them ends', async () => {
    const sent = async (method: string) =>
      (await home.recorded('notes')).filter((message) => message.method === method).length
    const open = async () => (await sent('resources/subscribe')) - (await sent('resources/unsubscribe'))
    // Streams of others that were dropped have ended.
    await expect.poll(open, { timeout: 20_000 }).toBe(0)
    const before = { subscribe: await sent('resources/subscribe'), unsubscribe: await sent('resources/unsubscribe') }
    const [one, two] = [
      await listen({ resourceSubscriptions: [COUNTER] }, 1),
      await listen({ resourceSubscriptions: [COUNTER] }, 2),
    ]
    expect(await sent('resources/subscribe')).toBe(before.subscribe + 1)
    await client().call('notes__touch', { uri: 'echo://counter' })
    expect(await until(one.stream, 'notifications/resources/updated')).toMatchObject({ _meta: { [SUBSCRIPTION]: 1 } })
    expect(await until(two.stream, 'notifications/resources/updated')).toMatchObject({ _meta: { [SUBSCRIPTION]: 2 } })
    one.stream.drop()
    await client().call('notes__touch', { uri: 'echo://counter' })
    await until(two.stream, 'notifications/resources/updated')
    expect(await sent('resources/unsubscribe')).toBe(before.unsubscribe)
    two.stream.drop()
    await expect.poll(() => sent('resources/unsubscribe'), { timeout: 20_000 }).toBe(before.unsubscribe + 1)
  })

  it('tells of the tasks of servers that tell of theirs, to clients that know tasks', async () => {
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: {} }
    const one = client(capabilities)
    const task = await one.call('old__confirm_delete', { filename: 'a' })
    const taskId = String(task.taskId)
    const { stream, acknowledged } = await listen({ taskIds: [taskId, 'unknown'] }, 't', capabilities)
    expect(acknowledged).toMatchObject({ params: { notifications: { taskIds: [taskId] } } })
    const { inputRequests } = await one.result('tasks/get', { taskId })
    const [question] = Object.keys(inputRequests as JsonObject)
    const inputResponses = { [question ?? '']: { action: 'accept', content: { confirm: true } } }
    await one.result('tasks/update', { taskId, inputResponses })
    for (;;) {
      const told = await until(stream, 'notifications/tasks')
      expect(told).toMatchObject({ taskId, _meta: { [SUBSCRIPTION]: 't' } })
      if (told.status !== 'completed') continue
      expect(told).toMatchObject({ result: { content: [{ text: 'Deleted a' }] } })
      break
    }
    stream.drop()
    const refused = await client().request('subscriptions/listen', { notifications: { taskIds: [taskId] } })
    expect([refused.status, refused.json().error]).toMatchObject([400, { code: -32021 }])
  })

  it('ends with its result when the gateway does', async () => {
    const ending = await openGateway(home.reeve)
    const one = new RawModern(ending.url, { token: TOKEN })
    const stream = await one.stream('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 9 })
    await stream.message()
    const ended = ending[Symbol.asyncDispose]()
    expect(await stream.message()).toMatchObject({
      id: 9,
      result: { resultType: 'complete', _meta: { [SUBSCRIPTION]: 9 } },
    })
    expect(await stream.next()).toBeUndefined()
    await ended
  })

  it('keeps a silent stream alive, and is bounded', async () => {
    await using small = await openGateway(home.reeve, { limits: { keepAliveMs: 20 }, modernLimits: { listens: 1 } })
    const one = new RawModern(small.url, { token: TOKEN })
    const stream = await one.stream('subscriptions/listen', { notifications: {} })
    let text = ''
    stream.response.on('data', (chunk: string) => {
      text += chunk
    })
    await vi.waitFor(() => expect(text).toContain(': keep-alive'))
    const refused = await one.request('subscriptions/listen', { notifications: {} })
    expect([refused.status, refused.json().error]).toMatchObject([503, { data: { code: 'limit_exceeded' } }])
    stream.drop()
    const again = () => one.stream('subscriptions/listen', { notifications: {} })
    await vi.waitFor(async () => expect((await again()).response.statusCode).toBe(200))
  })
})
