import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession, type RawStream } from './gateway/raw-http.js'
import { RawModern, textOf } from './gateway/raw-modern.js'

const FULL = (era: string) => ({
  script: fileURLToPath(new URL(`../fixtures/full/server-${era}.mjs`, import.meta.url)),
  args: ['--stdio'],
})
const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const RELATED = 'io.modelcontextprotocol/related-task'

let home: Home
let gateway: Gateway
beforeAll(async () => {
  home = await openHome(() => ({ old: FULL('2025'), other: FULL('2025'), new: FULL('2026') }))
  gateway = await openGateway(home.reeve)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const modern = (capabilities: JsonObject = { ...EXTENSION, elicitation: {} }) =>
  new RawModern(gateway.url, { token: TOKEN, capabilities })
const legacy = () => RawSession.open(gateway.url, { token: TOKEN, capabilities: { elicitation: {} } })

const resultOf = async (session: RawSession, method: string, params: JsonObject) => {
  const { result, error } = (await session.request(method, params)).messages().at(-1) ?? {}
  if (error !== undefined) throw Object.assign(new Error(String((error as JsonObject).message)), error)
  return result as JsonObject
}
const startTask = async (session: RawSession, name: string, args: JsonObject = {}, task: JsonObject = {}) =>
  (await resultOf(session, 'tools/call', { name, arguments: args, task })).task as JsonObject & { taskId: string }
const errorOf = (attempt: Promise<unknown>) => attempt.then(() => undefined).catch((error: unknown) => error)

async function answerQuestion(session: RawSession, stream: RawStream, answer: JsonObject): Promise<JsonObject> {
  for (;;) {
    const message = await stream.message()
    if (message.method !== 'elicitation/create') continue
    await session.post({ jsonrpc: '2.0', id: message.id, result: answer })
    return message.params as JsonObject
  }
}

async function lastOf(stream: RawStream): Promise<JsonObject> {
  for (;;) {
    const message = await stream.message()
    if (message.method === undefined) return message
  }
}

describe('core tasks of legacy servers, for a legacy client', () => {
  it('have ids that tell their server, wherever they stand', async () => {
    const session = await legacy()
    const { tools } = (await resultOf(session, 'tools/list', {})) as { tools: JsonObject[] }
    expect(tools.find(({ name }) => name === 'old__slow_compute')).toMatchObject({
      execution: { taskSupport: 'optional' },
    })
    const mine = await startTask(session, 'old__slow_compute', { seconds: 0.05, label: 'mine' }, { ttl: 60_000 })
    const others = await startTask(session, 'other__slow_compute', { seconds: 0.05 })
    expect(mine.taskId).toMatch(/^reeve-task:\/\/old\//)
    expect(others.taskId).toMatch(/^reeve-task:\/\/other\//)
    expect(await resultOf(session, 'tasks/get', { taskId: mine.taskId })).toMatchObject({ taskId: mine.taskId })
    const result = await resultOf(session, 'tasks/result', { taskId: mine.taskId })
    expect(textOf(result)).toBe('Computed mine in 0.05 s')
    expect(result._meta).toEqual({ [RELATED]: { taskId: mine.taskId } })
    const { tasks } = (await resultOf(session, 'tasks/list', {})) as { tasks: JsonObject[] }
    expect(tasks.map(({ taskId }) => taskId)).toEqual(expect.arrayContaining([mine.taskId, others.taskId]))
    await session.end()
  })

  it('ask on the stream of the request that waits for them, and tell of their changes', async () => {
    const session = await legacy()
    const standalone = await session.listen()
    const { taskId } = await startTask(session, 'old__confirm_delete', { filename: 'a' })
    const stream = await session.stream('tasks/result', { taskId })
    const asked = await answerQuestion(session, stream, { action: 'accept', content: { confirm: true } })
    expect(asked._meta).toEqual({ [RELATED]: { taskId } })
    expect(textOf((await lastOf(stream)).result as JsonObject)).toBe('Deleted a')
    const told = () =>
      [...stream.events, ...standalone.events].filter(({ data }) => data !== '').map(({ json }) => json())
    await expect.poll(told).toContainEqual(
      expect.objectContaining({
        method: 'notifications/tasks/status',
        params: expect.objectContaining({ taskId, status: 'completed' }),
      }),
    )
    standalone.drop()
    await session.end()
  })

  it('are refused under ids that are nobody here', async () => {
    const session = await legacy()
    for (const taskId of ['x', 'reeve-task://nobody/1', 'reeve-task://', 'reeve-task://old/none', '__proto__']) {
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        expect(await errorOf(resultOf(session, method, { taskId }))).toMatchObject({ code: -32602 })
      }
    }
    expect(await errorOf(resultOf(session, 'tasks/get', {}))).toMatchObject({ code: -32602 })
    expect(await errorOf(resultOf(session, 'tasks/update', { taskId: 'x' }))).toMatchObject({ code: -32601 })
    expect(await errorOf(startTask(session, 'old__greet'))).toMatchObject({ code: -32601 })
    await session.end()
  })
})

describe('core tasks for a legacy client of a modern server', () => {
  it('are offered, and run whether or not the server makes one of them', async () => {
    const session = await legacy()
    const { tools } = (await resultOf(session, 'tools/list', {})) as { tools: JsonObject[] }
    expect(tools.find(({ name }) => name === 'new__greet')).toMatchObject({ execution: { taskSupport: 'optional' } })
    for (const [name, args, text] of [
      ['new__greet', { name: 'Ada' }, 'Hello, Ada!'],
      ['new__slow_compute', { seconds: 0.05, label: 'it' }, 'Computed it in 0.05 s'],
    ] as const) {
      const { taskId, status, ttl } = await startTask(session, name, args, { ttl: 30_000 })
      expect([status, ttl]).toEqual(['working', 30_000])
      const result = await resultOf(session, 'tasks/result', { taskId })
      expect([textOf(result), result._meta]).toEqual([text, { [RELATED]: { taskId } }])
      expect(result).not.toHaveProperty('resultType')
      expect(await resultOf(session, 'tasks/get', { taskId })).toMatchObject({ taskId, status: 'completed' })
      const { tasks } = (await resultOf(session, 'tasks/list', {})) as { tasks: JsonObject[] }
      expect(tasks.map((task) => task.taskId)).toContain(taskId)
    }
    await session.end()
  })

  it('ask when somebody waits for their result', async () => {
    const session = await legacy()
    const { taskId } = await startTask(session, 'new__confirm_delete', { filename: 'b' })
    await expect.poll(() => resultOf(session, 'tasks/get', { taskId })).toMatchObject({ status: 'input_required' })
    const stream = await session.stream('tasks/result', { taskId })
    const asked = await answerQuestion(session, stream, { action: 'accept', content: { confirm: true } })
    expect(asked).toMatchObject({ message: 'Delete b?', _meta: { [RELATED]: { taskId } } })
    expect(textOf((await lastOf(stream)).result as JsonObject)).toBe('Deleted b')
    await session.end()
  })

  it('fail as the request would have, and are cancelled as far as the server', async () => {
    const session = await legacy()
    const broken = await startTask(session, 'new__protocol_error_job')
    expect(await errorOf(resultOf(session, 'tasks/result', { taskId: broken.taskId }))).toMatchObject({
      code: -32603,
      message: 'The job broke',
    })
    expect(await resultOf(session, 'tasks/get', { taskId: broken.taskId })).toMatchObject({ status: 'failed' })
    expect(await errorOf(resultOf(session, 'tasks/cancel', { taskId: broken.taskId }))).toMatchObject({ code: -32602 })
    const { taskId } = await startTask(session, 'new__slow_compute', { seconds: 60 })
    expect(await resultOf(session, 'tasks/cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' })
    expect(await errorOf(resultOf(session, 'tasks/result', { taskId }))).toMatchObject({
      message: 'The task was cancelled',
    })
    await session.end()
  })

  it('are followed to their end when the client asked for no task', async () => {
    const session = await legacy()
    const called = await resultOf(session, 'tools/call', { name: 'new__slow_compute', arguments: { seconds: 0.3 } })
    expect(textOf(called)).toContain('Computed')
    const stream = await session.stream('tools/call', { name: 'new__confirm_delete', arguments: { filename: 'c' } })
    await answerQuestion(session, stream, { action: 'accept', content: { confirm: false } })
    expect(textOf((await lastOf(stream)).result as JsonObject)).toBe('Kept c')
    await session.end()
  })
})

describe('tasks of the extension, for a modern client', () => {
  it('of a legacy server are core tasks in other words', async () => {
    const one = modern()
    const { tools } = (await one.result('tools/list')) as { tools: JsonObject[] }
    expect(tools.find(({ name }) => name === 'old__slow_compute')).not.toHaveProperty('execution')
    const task = await one.call('old__slow_compute', { seconds: 0.05, label: 'it' })
    expect(task).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^reeve-task:\/\/old\//),
      ttlMs: expect.any(Number),
      pollIntervalMs: expect.any(Number),
    })
    for (const member of ['task', 'ttl', 'pollInterval']) expect(task).not.toHaveProperty(member)
    const at = { taskId: String(task.taskId) }
    const look = () => one.result('tasks/get', at)
    await expect.poll(look).toMatchObject({
      ...at,
      resultType: 'complete',
      status: 'completed',
      result: { resultType: 'complete', content: [{ text: 'Computed it in 0.05 s' }] },
    })
    const { result } = await look()
    expect((result as JsonObject)._meta).toBeUndefined()
    // What ended is acknowledged, too.
    expect(await one.result('tasks/cancel', at)).toMatchObject({ resultType: 'complete' })
  })

  it('of a legacy server tell what they fail with, and what of a tool is no failure', async () => {
    const one = modern()
    const broken = { taskId: String((await one.call('old__protocol_error_job')).taskId) }
    await expect
      .poll(() => one.result('tasks/get', broken))
      .toMatchObject({
        status: 'failed',
        error: { code: -32603, message: 'The job broke', data: { during: 'protocol_error_job' } },
      })
    const failing = { taskId: String((await one.call('old__failing_job')).taskId) }
    await expect
      .poll(() => one.result('tasks/get', failing), { timeout: 10_000 })
      .toMatchObject({ status: 'completed', result: { isError: true } })
  })

  it('of a legacy server ask in what is looked at, each question under one name', async () => {
    const one = modern()
    const at = { taskId: String((await one.call('old__multi_input')).taskId) }
    await expect.poll(() => one.result('tasks/get', at)).toMatchObject({ status: 'input_required' })
    const first = (await one.result('tasks/get', at)).inputRequests as JsonObject
    expect((await one.result('tasks/get', at)).inputRequests).toEqual(first)
    const [a, b] = Object.keys(first) as [string, string]
    expect(JSON.stringify(first)).not.toContain(RELATED)
    const answer = (name: string) => ({ action: 'accept', content: { name, confirm: true } })
    await one.result('tasks/update', { ...at, inputResponses: { [a]: answer('Ada'), other: answer('x') } })
    expect(Object.keys((await one.result('tasks/get', at)).inputRequests as JsonObject)).toEqual([b])
    await one.result('tasks/update', { ...at, inputResponses: { [b]: answer('Lovelace') } })
    await expect
      .poll(() => one.result('tasks/get', at))
      .toMatchObject({ status: 'completed', result: { content: [{ text: 'Ada and Lovelace' }] } })
  })

  it('of a modern server pass under ids that tell it', async () => {
    const one = modern()
    const task = await one.call('new__slow_compute', { seconds: 0.05, label: 'it' })
    expect(task).toMatchObject({ resultType: 'task', taskId: expect.stringMatching(/^reeve-task:\/\/new\//) })
    await expect
      .poll(() => one.result('tasks/get', { taskId: String(task.taskId) }))
      .toMatchObject({ taskId: task.taskId, status: 'completed', result: { resultType: 'complete' } })
  })

  it('are for clients that declared them', async () => {
    const plain = modern({})
    expect(await plain.call('old__slow_compute', { seconds: 0.01 })).toMatchObject({ resultType: 'complete' })
    for (const name of ['old__failing_job', 'new__failing_job']) {
      const answer = await plain.request('tools/call', { name, arguments: {} })
      expect([answer.status, answer.json().error]).toMatchObject([
        400,
        { code: -32021, data: { requiredCapabilities: EXTENSION } },
      ])
    }
    const { taskId } = await modern().call('old__slow_compute', { seconds: 0.01 })
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = await plain.request(method, { taskId: String(taskId), inputResponses: {} })
      expect([answer.status, (answer.json().error as JsonObject).code]).toEqual([400, -32021])
    }
    for (const unknown of ['x', 'reeve-task://nobody/1', 'reeve-task://old/none', 'reeve-task://new/none']) {
      expect(await errorOf(modern().result('tasks/get', { taskId: unknown }))).toMatchObject({ code: -32602 })
    }
  })
})
