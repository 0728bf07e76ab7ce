import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BrokerHome, textOf } from '../../../../test/fixtures/broker/broker-home.js'
import { ReeveError, RpcError } from '../../../errors.js'
import type { JsonObject } from '../../../protocol/index.js'
import type { ThreadEvent } from '../../../threads/index.js'

let home: BrokerHome
beforeEach(async () => {
  home = await BrokerHome.make({ notes: ['--list-changed'] })
})
afterEach(() => home[Symbol.asyncDispose]())

const NOTES = { server: 'notes' }
const caught = (promise: Promise<unknown>) => promise.catch((error: unknown) => error)

describe('a thread in the broker', () => {
  it('takes steps whose tools are what the server said, frozen, and calls them by either name', async () => {
    await home.open()
    await using thread = await home.thread({ naming: 'readable' })
    const step = await thread.step({ wait: 'all' })
    const tool = step.tools.find(({ flat }) => flat === 'notes__params')
    expect(tool?.definition).toMatchObject({ _meta: { 'echo/tool': 'kept' }, 'x-unknown': 'kept' })
    expect(Object.isFrozen(tool?.definition._meta)).toBe(true)
    expect(step.namespaces[0]?.tools.every((visible) => step.tools.includes(visible))).toBe(true)
    expect(thread.servers()).toMatchObject([{ key: { name: 'notes' }, status: 'connected', cached: false }])

    const told = JSON.parse(textOf(await step.callFlat('notes__params', { a: 1 }, { _meta: { mine: true } })))
    expect(told).toMatchObject({ arguments: { a: 1 }, _meta: { mine: true } })
    const { namespace = '', name = '' } = tool ?? {}
    expect(JSON.parse(textOf(await step.call({ namespace, name, arguments: { b: 2 } })))).toMatchObject({
      arguments: { b: 2 },
    })
  })

  it('refuses a call to a definition that changed since the step', async () => {
    await home.open()
    await using thread = await home.thread({ naming: 'readable' })
    await thread.callTool({ ...NOTES, tool: 'add_tool', arguments: { name: 'extra' } })
    await vi.waitFor(async () => expect((await thread.step()).tools.some(({ tool }) => tool === 'extra')).toBe(true))
    const step = await thread.step()
    await thread.callTool({ ...NOTES, tool: 'add_tool', arguments: { name: 'extra', description: 'other' } })
    const outcome = async () => caught(step.callFlat('notes__extra', {}))
    await vi.waitFor(async () =>
      expect(await outcome()).toMatchObject({ code: 'stale_catalog', key: { name: 'notes' } }),
    )
  })

  it('reads, lists, gets, completes and asks the server itself', async () => {
    await home.open()
    await using thread = await home.thread()
    const { key, client } = await thread.client(NOTES)
    expect(client).toMatchObject({ era: 'legacy', serverInfo: { name: 'echo' }, capabilities: { tools: {} } })
    expect(await client.request('ping', {})).toEqual({})
    await client.notify('notifications/unknown', {})
    expect((await thread.resources.list({ server: key.name })).items).toHaveLength(3)
    expect((await thread.resources.templates.listAll()).pages[0]?.items).toMatchObject([{ name: 'say' }])
    expect(await thread.resources.read({ ...NOTES, uri: 'echo://greeting' })).toMatchObject({
      contents: [{ text: 'hello' }],
    })
    expect(await thread.prompts.get({ ...NOTES, name: 'review', arguments: { file: 'x' } })).toMatchObject({
      messages: [{ content: { text: 'Review x in a kind tone.' } }],
    })
    const params = { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'tone', value: 'k' } }
    expect(await thread.complete({ ...NOTES, params })).toMatchObject({ completion: { values: ['kind', 'keen'] } })
    await thread.setLogLevel('error')
    await thread.rootsChanged()
  })

  it('hands on what servers ask, with the origin that the caller gave, and brings the answer back', async () => {
    await home.open()
    const asked: unknown[] = []
    await using thread = await home.thread({
      client: { capabilities: { elicitation: {} } },
      onRequest: async ({ method, params, origin }) => {
        asked.push([method, params?.message, origin])
        return { action: 'accept', content: { name: 'Ada' } }
      },
    })
    const origin = { of: 'the caller' }
    const result = await thread.callTool({ ...NOTES, tool: 'ask' }, { origin })
    expect(textOf(result)).toContain('Ada')
    expect(asked).toEqual([['elicitation/create', 'Your name?', origin]])
    expect((asked[0] as unknown[])[2]).toBe(origin)
  })

  it('answers a server that asks a client without an answer', async () => {
    await home.open()
    await using thread = await home.thread()
    expect(textOf(await thread.callTool({ ...NOTES, tool: 'ask' }))).toContain('-32601')
  })

  it('tells progress, notifications and changes as they come', async () => {
    await home.open()
    const events: ThreadEvent[] = []
    await using thread = await home.thread({ onEvent: (event) => events.push(event) })
    const progress: JsonObject[] = []
    await thread.callTool(
      { ...NOTES, tool: 'progress', arguments: { steps: 2, ms: 1 } },
      { onProgress: (params) => progress.push(params) },
    )
    expect(progress).toMatchObject([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ])
    await thread.callTool({ ...NOTES, tool: 'log', arguments: { data: 'a line' } })
    await vi.waitFor(() =>
      expect(events).toContainEqual({
        type: 'notification',
        notification: expect.objectContaining({
          method: 'notifications/message',
          params: expect.objectContaining({ data: 'a line' }),
        }),
      }),
    )
    expect(events.some((event) => event.type === 'status' && event.status === 'ready')).toBe(true)
  })

  it('asks for approvals where the client can give them, and nowhere else', async () => {
    await home.configure({ notes: [] }, 'default_tools_approval_mode = "prompt"\n')
    await home.open()
    const call = { ...NOTES, tool: 'echo', arguments: { message: 'x' } }
    await using silent = await home.thread()
    expect(await caught(silent.callTool(call))).toMatchObject({ code: 'approval_required' })
    const asked: unknown[] = []
    await using asking = await home.thread({
      onApproval: async ({ key, tool, arguments: args }) => {
        asked.push([key.name, tool, args])
        return asked.length === 1 ? 'decline' : 'approve'
      },
    })
    expect(await caught(asking.callTool(call))).toBeInstanceOf(ReeveError)
    expect(textOf(await asking.callTool(call))).toBe('x')
    expect(asked).toEqual([1, 2].map(() => ['notes', 'echo', { message: 'x' }]))
  })

  it('cancels a call by its signal, and keeps a time limit', async () => {
    await home.open()
    await using thread = await home.thread()
    const controller = new AbortController()
    const call = caught(thread.callTool({ ...NOTES, tool: 'hang' }, { signal: controller.signal }))
    controller.abort()
    expect(await call).toMatchObject({ code: 'cancelled' })
    expect(await caught(thread.callTool({ ...NOTES, tool: 'hang' }, { timeoutMs: 50 }))).toMatchObject({
      code: 'timeout',
    })
    expect(textOf(await thread.callTool({ ...NOTES, tool: 'echo', arguments: { message: 'on' } }))).toBe('on')
  })

  it('raises errors as they were raised there', async () => {
    await home.open()
    await using thread = await home.thread()
    const rpc = await caught(
      thread.callTool({ ...NOTES, tool: 'rpc_error', arguments: { code: -32042, message: 'visit' } }),
    )
    expect(rpc).toBeInstanceOf(RpcError)
    expect(rpc).toMatchObject({ rpcCode: -32042, message: 'visit', rpcData: expect.anything() })
    expect(await caught(thread.callTool({ server: 'nots', tool: 'echo' }))).toMatchObject({
      code: 'unknown_server',
      key: { name: 'nots', environment: null },
    })
    const step = await thread.step()
    expect(await caught(step.call({ namespace: 'no', name: 'such' }))).toMatchObject({ code: 'unsupported_call' })
    await home.configure({ notes: [], gone: [] }, 'required = true\nenabled_tools = ["none"]\n')
    await using strict = await home.thread()
    expect(await caught(strict.callTool({ server: 'gone', tool: 'echo' }))).toMatchObject({
      code: 'tool_disabled',
      place: 'gone/echo',
    })
  })

  it('fails what is under way when the broker ends, and says so', async () => {
    const broker = await home.open({ drainMs: 0 })
    const thread = await home.thread()
    const call = caught(thread.callTool({ ...NOTES, tool: 'hang' }))
    await broker.close()
    expect(await call).toMatchObject({ code: expect.stringMatching(/^(broker_lost|closed|cancelled)$/) })
    expect(await caught(thread.step())).toMatchObject({ code: 'broker_lost' })
    await thread.close()
  })
})
