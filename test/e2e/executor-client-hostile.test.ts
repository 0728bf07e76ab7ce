import { afterEach, describe, expect, it } from 'vitest'
import {
  ExecutorEnvironment,
  type ExecutorEnvironmentOptions,
  webSocketConnector,
} from '../../src/environments/index.js'
import { environmentId } from '../../src/identity/index.js'
import { reading } from '../fixtures/executor/reading.js'
import { type Asked, type ScriptedConnection, scriptedExecutor } from '../fixtures/executor/scripted-executor.js'
import { failure, get, text } from '../fixtures/http/plain.js'

const open: ExecutorEnvironment[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((environment) => environment.close()))
})
const QUICK = { startMs: 500, writeMs: 500, recoveringWaitMs: 200, graceMs: 100, killWaitMs: 300, gapMs: 100 }

function over(url: string, options: Partial<ExecutorEnvironmentOptions> = {}): ExecutorEnvironment {
  const made = new ExecutorEnvironment({
    id: environmentId('far'),
    connector: webSocketConnector({ environment: 'far', url, connectMs: 500 }),
    initializeMs: 300,
    recoveryMs: 1000,
    times: QUICK,
    ...options,
  })
  open.push(made)
  return made
}
const NOTES = { program: 'notes', args: [], env: {}, cwd: '/', label: 'notes' }
const base64 = (text: string) => Buffer.from(text).toString('base64')
const output = (processId: unknown, seq: unknown, chunk: string, stream = 'stdout') => ({
  method: 'process/output',
  params: { processId, seq, stream, chunk: base64(chunk) },
})

/** An executor that starts a process and then says `messages` about it. */
function saying(
  messages: (id: unknown) => readonly unknown[],
  more: (asked: Asked) => undefined | false | { result: unknown } = () => undefined,
) {
  return scriptedExecutor((asked, connection) => {
    if (asked.method === 'process/start') {
      connection.send({ id: asked.id, result: { processId: asked.params.processId } })
      for (const message of messages(asked.params.processId)) connection.send(message)
      return false
    }
    return more(asked)
  })
}

describe('an executor that lies about a process', () => {
  it.each<[string, (id: unknown) => readonly unknown[], string]>([
    ['numbers an event with a fraction', (id) => [output(id, 1.5, 'x')], 'protocol_violation'],
    ['numbers an event 0', (id) => [output(id, 0, 'x')], 'protocol_violation'],
    ['speaks of another process', () => [output('other', 1, 'x')], 'protocol_violation'],
    ['invents a stream', (id) => [output(id, 1, 'x', 'stdin')], 'protocol_violation'],
    [
      'sends output that is no base64',
      (id) => [{ method: 'process/output', params: { processId: id, seq: 1, stream: 'stdout', chunk: '!' } }],
      'protocol_violation',
    ],
    [
      'ends it before its last event',
      (id) => [output(id, 3, 'x'), { method: 'process/closed', params: { processId: id, seq: 2 } }],
      'protocol_violation',
    ],
    [
      'exits it twice',
      (id) => [1, 2].map((seq) => ({ method: 'process/exited', params: { processId: id, seq, exitCode: 0 } })),
      'protocol_violation',
    ],
    [
      'sends 300 events around a hole',
      (id) => Array.from({ length: 300 }, (_, n) => output(id, n + 2, 'x')),
      'limit_exceeded',
    ],
    ['sends 2 MiB around a hole', (id) => [output(id, 2, 'x'.repeat(2 * 1024 * 1024))], 'limit_exceeded'],
  ])('%s: the process fails and is ended there', async (_what, messages, code) => {
    await using executor = await saying(messages)
    const running = await over(executor.url).spawn(NOTES)
    expect((await running.exited).failure).toMatchObject({ code })
    await expect.poll(() => executor.asked.some(({ method }) => method === 'process/terminate')).toBe(true)
    expect((await failure(running.write('x'))).name).not.toBe('Error')
  })

  it('leaves a hole for good: asked for what is missing it has nothing, and the process fails', async () => {
    await using executor = await saying(
      (id) => [output(id, 2, 'x')],
      ({ method }) =>
        method === 'process/read'
          ? {
              result: {
                chunks: [],
                nextSeq: 3,
                exited: false,
                exitCode: null,
                closed: false,
                failure: null,
                sandboxDenied: false,
              },
            }
          : undefined,
    )
    const running = await over(executor.url).spawn(NOTES)
    expect((await running.exited).failure).toMatchObject({ code: 'protocol_violation', data: { missing: 1, first: 1 } })
  })

  it('leaves a hole, and fills it when asked', async () => {
    await using executor = await saying(
      (id) => [output(id, 2, 'b')],
      ({ method }) =>
        method === 'process/read'
          ? {
              result: {
                chunks: [{ seq: 1, stream: 'stdout', chunk: base64('a') }],
                nextSeq: 3,
                exited: false,
                exitCode: null,
                closed: false,
                failure: null,
                sandboxDenied: false,
              },
            }
          : undefined,
    )
    const said = reading(await over(executor.url).spawn(NOTES))
    await said.until('ab')
  })

  it('names another process as started: the start fails', async () => {
    await using executor = await scriptedExecutor(({ method }) =>
      method === 'process/start' ? { result: { processId: 'other' } } : undefined,
    )
    expect(await failure(over(executor.url).spawn(NOTES))).toMatchObject({ code: 'protocol_violation' })
  })

  it('does not answer a start: it fails in time, and what may run is ended', async () => {
    await using executor = await scriptedExecutor(({ method }) => (method === 'process/start' ? false : undefined))
    expect(await failure(over(executor.url).spawn(NOTES))).toMatchObject({ code: 'timeout' })
    await expect.poll(() => executor.asked.some(({ method }) => method === 'process/terminate')).toBe(true)
  })

  it('does not confirm an end: terminate comes back all the same', async () => {
    await using executor = await scriptedExecutor()
    const running = await over(executor.url).spawn(NOTES)
    expect((await running.terminate()).failure).toMatchObject({ code: 'environment_lost' })
  })

  it('takes a write and never says so: the connection is dropped, the process ended on the next', async () => {
    await using executor = await scriptedExecutor(({ method }) => (method === 'process/write' ? false : undefined))
    const running = await over(executor.url).spawn(NOTES)
    expect(await failure(running.write('x'))).toMatchObject({ code: 'timeout' })
    expect((await running.exited).failure).toMatchObject({ code: 'timeout' })
    const [start] = executor.asked.filter(({ method }) => method === 'process/start')
    const ended = () => executor.asked.find(({ method }) => method === 'process/terminate')
    await expect.poll(ended).toBeDefined()
    expect(ended()?.connection).not.toBe(start?.connection)
  })
})

describe('an executor that breaks the protocol', () => {
  it.each<[string, (connection: ScriptedConnection) => void]>([
    ['a message that is not JSON', (connection) => connection.sendRaw('{')],
    ['a message that is not UTF-8', (connection) => connection.sendRaw(Buffer.from([0xff, 0xfe]))],
    ['a batch', (connection) => connection.sendRaw('[]')],
    ['an answer to nothing', (connection) => connection.send({ id: 999, result: {} })],
    [
      'an error that belongs to nothing',
      (connection) => connection.send({ id: -1, error: { code: -32600, message: '' } }),
    ],
    ['a huge frame', (connection) => connection.sendRaw('x'.repeat(17 * 1024 * 1024))],
  ])('sends %s: what runs there is lost, and nothing hangs', async (_what, breakIt) => {
    await using executor = await scriptedExecutor((asked, connection) => {
      if (asked.method === 'process/write') breakIt(connection)
      return asked.method === 'process/write' ? false : undefined
    })
    const running = await over(executor.url).spawn(NOTES)
    expect(await failure(running.write('x'))).toMatchObject({ code: 'environment_lost' })
    expect((await running.exited).failure).toMatchObject({ code: 'environment_lost' })
  })

  it('never answers initialize: the first use fails in time and says where', async () => {
    await using executor = await scriptedExecutor(({ method }) => (method === 'initialize' ? false : undefined))
    const environment = over(executor.url)
    expect(await failure(environment.spawn(NOTES))).toMatchObject({
      code: 'environment_unreachable',
      place: `${executor.url}/`,
      data: { environment: 'far' },
    })
    expect(environment.state.is).toBe('failed')
  })

  it('asks something of us: it is refused by id', async () => {
    const refused: unknown[] = []
    await using executor = await scriptedExecutor((asked, connection) => {
      if (asked.method === undefined) refused.push(asked)
      if (asked.method === 'initialized') connection.send({ id: 7, method: 'network/policyRequest', params: {} })
      return undefined
    })
    await over(executor.url).info()
    await expect.poll(() => refused).toMatchObject([{ id: 7, error: { code: -32601 } }])
  })

  it('forgets the session: what ran is lost at once, and new work goes on', async () => {
    await using executor = await scriptedExecutor(({ method, params }) =>
      method === 'initialize' && params.resumeSessionId !== undefined
        ? { error: { code: -32600, message: 'unknown session id' } }
        : undefined,
    )
    const environment = over(executor.url)
    const running = await environment.spawn(NOTES)
    for (const { socket } of executor.connections) socket.terminate()
    expect((await running.exited).failure).toMatchObject({ code: 'environment_lost' })
    expect(await failure(running.write('x'))).toMatchObject({ code: 'environment_lost' })
    await environment.spawn(NOTES)
  })

  it('resumes another session: what ran is lost', async () => {
    await using executor = await scriptedExecutor(({ method, params }) =>
      method === 'initialize' && params.resumeSessionId !== undefined ? { result: { sessionId: 'other' } } : undefined,
    )
    const running = await over(executor.url).spawn(NOTES)
    for (const { socket } of executor.connections) socket.terminate()
    expect((await running.exited).failure).toMatchObject({ code: 'environment_lost' })
  })

  it('still holds the session elsewhere for a while: we ask until it lets go', async () => {
    let refusals = 3
    await using executor = await scriptedExecutor(({ method, params }) => {
      if (method === 'process/read')
        return {
          result: {
            chunks: [],
            nextSeq: 1,
            exited: false,
            exitCode: null,
            closed: false,
            failure: null,
            sandboxDenied: false,
          },
        }
      if (method !== 'initialize' || params.resumeSessionId === undefined || refusals === 0) return undefined
      refusals -= 1
      return { error: { code: -32010, message: 'attached' } }
    })
    const running = await over(executor.url).spawn(NOTES)
    for (const { socket } of executor.connections) socket.terminate()
    await running.write('x')
    expect(refusals).toBe(0)
  })

  it('is gone for good: recovery ends in time', async () => {
    const executor = await scriptedExecutor()
    const environment = over(executor.url)
    const running = await environment.spawn(NOTES)
    await executor[Symbol.asyncDispose]()
    expect((await running.exited).failure).toMatchObject({ code: 'environment_lost' })
    await expect.poll(() => environment.state.is).toBe('failed')
    expect(await failure(environment.spawn(NOTES))).toMatchObject({ code: 'environment_unreachable' })
  })
})

describe('an executor that lies about HTTP', () => {
  const delta = (seq: number, text: string, done = false) => ({
    method: 'http/request/bodyDelta',
    params: { requestId: 'http-1', seq, deltaBase64: base64(text), done, error: null },
  })
  it.each<[string, readonly unknown[], string]>([
    ['leaves a piece out', [delta(1, 'a'), delta(3, 'b', true)], 'transport_closed'],
    ['repeats a piece', [delta(1, 'a'), delta(1, 'a', true)], 'transport_closed'],
    [
      'sends no bytes',
      [{ method: 'http/request/bodyDelta', params: { requestId: 'http-1', seq: 1 } }],
      'transport_closed',
    ],
  ])('%s: the body fails', async (_what, deltas, code) => {
    await using executor = await scriptedExecutor((asked, connection) => {
      if (asked.method !== 'http/request') return undefined
      connection.send({ id: asked.id, result: { status: 200, headers: [], bodyBase64: '' } })
      for (const message of deltas) connection.send(message)
      return false
    })
    const response = await over(executor.url).http.request(get('http://web.test/'))
    expect(await failure(text(response))).toMatchObject({ code })
  })

  it.each([{}, { status: 'ok', headers: [] }, { status: 20, headers: [] }, { status: 200, headers: [7] }])(
    'answers %j: the exchange fails',
    async (result) => {
      await using executor = await scriptedExecutor(({ method }) =>
        method === 'http/request' ? { result } : undefined,
      )
      expect(await failure(over(executor.url).http.request(get('http://web.test/')))).toMatchObject({
        code: 'protocol_violation',
      })
    },
  )

  it('cannot fill in its own variables: a request that needs them is not sent', async () => {
    await using executor = await scriptedExecutor()
    const executorHeaders = [{ name: 'Authorization', prefix: 'Bearer ', variable: 'T' }]
    const error = await failure(over(executor.url).http.request({ ...get('http://web.test/'), executorHeaders }))
    expect(error).toMatchObject({ code: 'unsupported' })
    expect(executor.asked.map(({ method }) => method)).not.toContain('http/request')
  })
})

describe('an executor that lies about files', () => {
  it.each([['..'], ['a/b'], ['']])('lists %j: refused', async (fileName) => {
    await using executor = await scriptedExecutor(({ method }) =>
      method === 'fs/readDirectory'
        ? { result: { entries: [{ fileName, isFile: true, isDirectory: false }] } }
        : undefined,
    )
    expect(await failure(over(executor.url).files.readDirectory('/srv'))).toMatchObject({ code: 'protocol_violation' })
  })

  it('answers reads without bytes for ever: refused', async () => {
    await using executor = await scriptedExecutor(({ method }) => {
      if (method === 'fs/open' || method === 'fs/close') return { result: {} }
      return method === 'fs/readBlock' ? { result: { chunk: '', eof: false } } : undefined
    })
    expect(await failure(over(executor.url).files.readFile('/srv/a'))).toMatchObject({ code: 'protocol_violation' })
  })
})

describe('a connection', () => {
  it('acknowledges what came with a pong unless it has something to send, and has the token and no Origin', async () => {
    await using executor = await scriptedExecutor()
    const environment = over(executor.url, {
      connector: webSocketConnector({ environment: 'far', url: executor.url, token: async () => 'secret' }),
    })
    // The answer to `initialize` is followed by `initialized`, that to the question by nothing.
    await environment.status()
    await expect.poll(() => executor.pongs).toBe(1)
    expect(executor.headers[0]).toMatchObject({ authorization: 'Bearer secret' })
    expect(executor.headers[0]).not.toHaveProperty('origin')
  })

  it.each([
    ['ws://far.test/', 'secret'],
    ['ws://127.0.0.1.far.test/', 'secret'],
    ['http://127.0.0.1/', undefined],
    ['ws://user:secret@127.0.0.1/', undefined],
  ])('to %s is refused, without a word of the secret', (url, token) => {
    const make = () => webSocketConnector({ environment: 'far', url, ...(token && { token }) })
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_arguments' }))
    expect(make).not.toThrow(/secret/)
  })

  it('carries a message larger than a frame of the executor in several', async () => {
    await using executor = await scriptedExecutor(({ method, params }) =>
      method === 'http/request'
        ? {
            result: {
              status: 200,
              headers: [{ name: 'size', value: String(String(params.bodyBase64).length) }],
              bodyBase64: '',
            },
          }
        : undefined,
    )
    const body = 'x'.repeat(15 * 1024 * 1024)
    const response = await over(executor.url).http.request({
      method: 'POST',
      url: 'http://web.test/',
      headers: [],
      body,
    })
    expect(response.header('size')).toBe(String(20 * 1024 * 1024))
    response.cancel()
  })
})
