import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { eventually, fixture, isRunning, pidsIn } from '../../../test/fixtures/stdio/running.js'
import type { StdioServer } from '../../config/index.js'
import { type HttpClient, LocalEnvironment } from '../../environments/index.js'
import {
  CancelledError,
  ConfigError,
  InvalidArgumentsError,
  LimitExceededError,
  ProcessFailedError,
  ProtocolViolationError,
  TransportClosedError,
} from '../../errors.js'
import type { JsonRpcMessage, TransportClosed } from '../../protocol/index.js'
import { type OpenStdioOptions, openStdio } from './open.js'
import { StdioTransport } from './transport.js'

const noHttp: HttpClient = {
  request: () => Promise.reject(new Error('no HTTP in this test')),
  close: async () => {},
}
let cwd: string
let environment: LocalEnvironment

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'reeve-stdio-'))
  environment = new LocalEnvironment({ http: noHttp, termGraceMs: 200 })
})
afterEach(async () => {
  await environment.close()
  await rm(cwd, { recursive: true, force: true })
})

const server = (name: string, args: readonly string[] = [], rest: Partial<StdioServer> = {}): StdioServer => {
  return { type: 'stdio', command: process.execPath, args: [fixture(name), ...args], env: {}, envVars: [], ...rest }
}

interface Conversation {
  readonly transport: StdioTransport
  readonly messages: JsonRpcMessage[]
  readonly warnings: Error[]
  readonly stderr: string[]
  readonly closed: Promise<TransportClosed>
  request(id: number, method: string, params?: Record<string, never> | object): Promise<void>
  /** The first answer to an id. */
  answer(id: number): Promise<JsonRpcMessage>
}

async function open(target: StdioServer, rest: Partial<OpenStdioOptions> = {}): Promise<Conversation> {
  const stderr: string[] = []
  const transport = await openStdio({
    environment,
    server: target,
    parentEnv: process.env,
    platform: process.platform,
    defaultCwd: cwd,
    label: 'notes',
    onstderr: (line) => stderr.push(line),
    ...rest,
  })
  return converse(transport, stderr)
}

function converse(transport: StdioTransport, stderr: string[] = []): Conversation {
  const messages: JsonRpcMessage[] = []
  const warnings: Error[] = []
  let closes = 0
  const closed = new Promise<TransportClosed>((resolve) => {
    transport.onclose = (reason) => {
      closes += 1
      resolve(reason)
    }
  })
  transport.onmessage = (message) => messages.push(message)
  transport.onwarning = (warning) => warnings.push(warning)
  onTestFinished(async () => {
    await transport.close()
    expect(closes).toBe(1)
  })
  return {
    transport,
    messages,
    warnings,
    stderr,
    closed,
    request: (id, method, params) =>
      transport.send({ jsonrpc: '2.0', id, method, ...(params && { params: params as Record<string, never> }) }),
    answer: (id) =>
      eventually(() => {
        const found = messages.find((message) => 'id' in message && message.id === id && !('method' in message))
        if (found === undefined) throw new Error(`no answer to ${id}`)
        return found
      }),
  }
}

const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' } as const
const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }

describe('a conversation over stdio', () => {
  it('carries requests, answers, notifications, and requests of the server', async () => {
    const talk = await open(server('echo.mjs', ['--name', 'X']))
    await talk.transport.start()
    await talk.request(1, 'initialize', INITIALIZE)
    expect(await talk.answer(1)).toMatchObject({ result: { serverInfo: { name: 'X' } } })
    await talk.request(2, 'tools/call', { name: 'echo', arguments: { message: 'é\n漢 😀' } })
    expect(await talk.answer(2)).toMatchObject({ result: { content: [{ text: 'é\n漢 😀' }] } })
    await talk.request(3, 'tools/call', { name: 'ask', arguments: { method: 'roots/list' } })
    await eventually(() => expect(talk.messages.at(-1)).toMatchObject({ id: 's0', method: 'roots/list' }))
    await talk.transport.send({ jsonrpc: '2.0', id: 's0', result: { roots: [] } })
    expect(await talk.answer(3)).toMatchObject({ result: { content: [{ text: '{"roots":[]}' }] } })
    expect(talk.warnings).toEqual([])
  })

  it('keeps members that nobody knows, in both directions', async () => {
    const talk = await open(server('echo.mjs'))
    await talk.transport.start()
    const params = { name: 'params', arguments: { a: null }, _meta: { 'x/y': [1] }, 'x-unknown': { deep: true } }
    await talk.request(1, 'tools/call', params)
    expect(await talk.answer(1)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text: JSON.stringify(params) }] },
    })
    await talk.request(2, 'tools/call', { name: 'media', arguments: { unknown: true } })
    expect(await talk.answer(2)).toMatchObject({ result: { 'x-unknown': { deep: [null, 0, ''] } } })
  })

  it('gets a large answer through, and many in flight in order of their requests', async () => {
    const talk = await open(server('echo.mjs'))
    await talk.transport.start()
    await talk.request(1, 'tools/call', { name: 'big', arguments: { bytes: 9_000_000 } })
    expect(JSON.stringify(await talk.answer(1)).length).toBeGreaterThan(9_000_000)
    const ids = Array.from({ length: 500 }, (_, index) => index + 2)
    await Promise.all(
      ids.map((id) => talk.request(id, 'tools/call', { name: 'echo', arguments: { message: `${id}` } })),
    )
    await talk.answer(501)
    const answered = talk.messages.flatMap((message) => ('id' in message && message.id !== 1 ? [message.id] : []))
    expect(answered).toEqual(ids)
  })

  it('keeps what the server says before start', async () => {
    const talk = await open(server('echo.mjs', ['--banner', 'Welcome', '--stderr-lines', '1']))
    await eventually(() => expect(talk.stderr).toEqual(['stderr line 1']))
    expect(talk.warnings).toEqual([])
    await talk.transport.start()
    await talk.request(1, 'ping')
    await talk.answer(1)
    expect(talk.warnings[0]?.message).toContain('Welcome')
  })

  it('writes through a reader that is slower than the writer', async () => {
    const talk = await open(server('echo.mjs'))
    await talk.transport.start()
    const message = 'x'.repeat(1_000_000)
    await Promise.all(
      [1, 2, 3, 4].map((id) => talk.request(id, 'tools/call', { name: 'echo', arguments: { message } })),
    )
    for (const id of [1, 2, 3, 4]) expect(JSON.stringify(await talk.answer(id))).toContain(message)
  })
})

describe('the environment of a server', () => {
  it('holds the allowlist, what was asked for and what was given, and no secret of ours', async () => {
    const parentEnv = { PATH: process.env.PATH, HOME: cwd, FAKE_API_KEY: 'never', ASKED: 'a', NODE_OPTIONS: '--bad' }
    const target = server('echo.mjs', [], { env: { GIVEN: 'g' }, envVars: ['ASKED', 'UNSET'] })
    const talk = await open(target, { parentEnv })
    await talk.transport.start()
    await talk.request(1, 'tools/call', { name: 'env' })
    const answer = (await talk.answer(1)) as unknown as { result: { content: [{ text: string }] } }
    expect(JSON.parse(answer.result.content[0].text)).toEqual({
      PATH: process.env.PATH,
      HOME: cwd,
      ASKED: 'a',
      GIVEN: 'g',
    })
  })

  it('is refused when a variable has to come from elsewhere', async () => {
    const target = server('echo.mjs', [], { envVars: [{ name: 'THERE', source: 'remote' }] })
    await expect(open(target)).rejects.toThrow(ConfigError)
  })

  it('has the configured working directory, a relative one below the default', async () => {
    for (const [configured, expected] of [
      [undefined, cwd],
      ['.', cwd],
      ['/', '/'],
    ] as const) {
      const talk = await open(server('echo.mjs', [], configured === undefined ? {} : { cwd: configured }))
      await talk.transport.start()
      await talk.request(1, 'tools/call', { name: 'process' })
      expect(JSON.stringify(await talk.answer(1))).toContain(`\\"cwd\\":\\"${expected}\\"`)
    }
  })
})

describe('a server that misbehaves', () => {
  it('may write a banner, logs, blank lines and other JSON around its messages', async () => {
    const talk = await open(server('noisy.mjs'))
    await talk.transport.start()
    await talk.request(1, 'initialize', INITIALIZE)
    await talk.answer(1)
    await talk.request(2, 'tools/call', { name: 'x' })
    await talk.answer(2)
    expect(talk.messages.map((message) => ('method' in message ? message.method : message.id))).toEqual([
      1,
      'notifications/message',
      2,
    ])
    expect(talk.warnings.every((warning) => warning instanceof ProtocolViolationError)).toBe(true)
    expect(talk.warnings[0]?.message).toBe(
      "MCP server 'notes' wrote text that is not JSON on stdout (28 bytes): [1mWelcome to Noisy 1.0 [0m",
    )
  })

  it('does not fill the log with its noise', async () => {
    const talk = await open(server('noisy.mjs', ['--lines', '20000']))
    await talk.transport.start()
    await talk.request(1, 'initialize', INITIALIZE)
    await talk.answer(1)
    expect(talk.warnings.length).toBeLessThanOrEqual(5)
    await talk.transport.close()
    expect(talk.warnings.at(-1)?.message).toMatch(/wrote \d{5} more lines on stdout that are no messages/)
  })

  it('has its last line read although the newline is missing', async () => {
    const talk = await open(server('noisy.mjs', ['--partial']))
    await talk.transport.start()
    await talk.request(1, 'tools/list')
    await talk.closed
    expect(talk.messages.at(-1)).toMatchObject({ params: { data: 'no newline' } })
  })

  it('is given up with a clear error when a line has no end', async () => {
    const talk = await open(server('flood.mjs'))
    await talk.transport.start()
    await talk.transport.send(initialized)
    const { error } = await talk.closed
    expect(error).toBeInstanceOf(LimitExceededError)
    expect(error?.message).toBe("a line of MCP server 'notes' on stdout, in bytes, exceeds the limit of 16777216")
    await talk.transport.close()
    expect(isRunning(talk.transport.pid ?? 0)).toBe(false)
  })

  it('may flood its stderr without harm', async () => {
    const talk = await open(server('flood.mjs', ['--stderr']))
    await talk.transport.start()
    await talk.transport.send(initialized)
    await eventually(() => expect(talk.stderr.join('').length).toBeGreaterThanOrEqual(49 * 1024 * 1024))
    await talk.request(1, 'ping')
    await talk.answer(1)
    expect(Buffer.byteLength(talk.transport.stderr.join(''))).toBeLessThanOrEqual(8192)
  })

  it('never has invalid UTF-8 turned into other text', async () => {
    const talk = await open(server('invalid-utf8.mjs'))
    await talk.transport.start()
    await talk.request(1, 'ping')
    expect(await talk.answer(1)).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(talk.messages).toHaveLength(1)
    expect(talk.warnings[0]?.message).toContain('bytes that are not UTF-8')
  })

  it('may use ids that nobody asked, or twice: that is for the peer to judge', async () => {
    const talk = await open(server('wrong-ids.mjs'))
    await talk.transport.start()
    await talk.request(1, 'ping')
    await eventually(() => expect(talk.messages).toHaveLength(5))
    expect(talk.messages.map((message) => ('id' in message ? message.id : undefined))).toEqual([
      987654,
      '1',
      null,
      1,
      1,
    ])
  })

  it('gets its broken answers turned into errors, so that nobody waits for better ones', async () => {
    const talk = await open(server('malformed.mjs'))
    await talk.transport.start()
    for (const [index, method] of ['result/null', 'result/list', 'result/none', 'error/text', 'both'].entries()) {
      await talk.request(index + 1, method)
      const answer = await talk.answer(index + 1)
      if (method === 'both') expect(answer).toMatchObject({ jsonrpc: '2.0' })
      else expect(answer).toMatchObject({ error: { code: -32603 } })
    }
    await talk.request(9, 'no/version')
    await talk.request(10, 'ping')
    await talk.answer(10)
    expect(talk.messages.some((message) => 'id' in message && message.id === 9)).toBe(false)
  })
})

describe('a server that ends', () => {
  it('is reported with its exit code and its last words', async () => {
    const talk = await open(server('exit-3.mjs'))
    await talk.transport.start()
    const { error } = await talk.closed
    expect(error).toBeInstanceOf(ProcessFailedError)
    expect(error?.message).toBe(
      "MCP server 'notes' exited with code 3; last on stderr:\n  starting up\n  Fatal: DATABASE_URL is not set",
    )
    expect((error as ProcessFailedError).data).toEqual({
      exitCode: 3,
      signal: null,
      stderr: ['starting up', 'Fatal: DATABASE_URL is not set'],
    })
  })

  it('is reported also when it ended before start', async () => {
    const talk = await open(server('exit-3.mjs'))
    await eventually(() => expect(isRunning(talk.transport.pid ?? 0)).toBe(false))
    await talk.transport.start()
    expect((await talk.closed).error?.message).toContain('code 3')
  })

  it('keeps the last 20 lines, an unterminated one included', async () => {
    const talk = await open(server('crash-after-initialize.mjs'))
    await talk.transport.start()
    await talk.request(1, 'initialize', INITIALIZE)
    await talk.answer(1)
    await talk.transport.send(initialized)
    const error = (await talk.closed).error as ProcessFailedError
    const expected = Array.from({ length: 20 }, (_, index) => `stack line ${index + 81}`)
    expect(error.data).toEqual({ exitCode: 70, signal: null, stderr: expected })
  })

  it('is reported with its signal', async () => {
    const talk = await open(server('crash-after-initialize.mjs', ['--signal', 'SIGABRT']))
    await talk.transport.start()
    await talk.transport.send(initialized)
    const error = (await talk.closed).error as ProcessFailedError
    expect(error.message).toBe("MCP server 'notes' was ended by SIGABRT; it wrote nothing on stderr")
    expect(error.data).toMatchObject({ exitCode: null, signal: 'SIGABRT' })
  })

  it('does not have its secrets repeated', async () => {
    const script = 'console.error("key", process.env.API_KEY, "at", process.env.ROOT); process.exit(1)'
    const env = { API_KEY: 'sk-123456789', ROOT: '/srv/data' }
    const talk = await open({ type: 'stdio', command: process.execPath, args: ['-e', script], env, envVars: [] })
    await talk.transport.start()
    const { error } = await talk.closed
    expect(error?.message).toContain('key [redacted] at /srv/data')
    expect(JSON.stringify([error, talk.stderr])).not.toContain('sk-123456789')
  })

  it('refuses what is sent afterwards as certainly not sent', async () => {
    const talk = await open(server('exit-3.mjs'))
    await talk.transport.start()
    await talk.closed
    const error = await talk.request(1, 'ping').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TransportClosedError)
    expect(error).toMatchObject({ sent: false, cause: { code: 'process_failed' } })
    expect((error as Error).message).toContain('exited with code 3')
  })

  it('cannot stay half open: a closed stdin ends it', async () => {
    const talk = await open(server('closes-stdin.mjs'))
    await talk.transport.start()
    await talk.transport.send(initialized)
    await eventually(() => expect(talk.stderr).toEqual(['stdin closed']))
    await talk.request(1, 'ping').catch(() => undefined)
    await talk.request(2, 'ping').catch(() => undefined)
    expect((await talk.closed).error?.message).toContain('closed its stdin and keeps running')
    await talk.transport.close()
    expect(isRunning(talk.transport.pid ?? 0)).toBe(false)
  })

  it('is not waited for when it cannot be started', async () => {
    const target = { ...server('echo.mjs'), command: 'no-such-program' }
    await expect(open(target)).rejects.toThrow(`cannot start 'no-such-program' for notes in ${cwd}`)
  })
})

describe('send', () => {
  it('waits while the server does not read, and gives up with its signal', async () => {
    const talk = await open(server('silent.mjs', ['--deaf']))
    await talk.transport.start()
    const stuck = new AbortController()
    const queued = new AbortController()
    const text = 'x'.repeat(2_000_000)
    const first = talk.transport.send(
      { jsonrpc: '2.0', id: 1, method: 'm', params: { text } },
      { signal: stuck.signal },
    )
    const second = talk.transport.send({ jsonrpc: '2.0', id: 2, method: 'm' }, { signal: queued.signal })
    const third = talk.transport.send({ jsonrpc: '2.0', id: 3, method: 'm' })
    const outcomes = Promise.allSettled([first, second, third])
    queued.abort()
    await expect(second).rejects.toBeInstanceOf(CancelledError)
    stuck.abort()
    await expect(first).rejects.toBeInstanceOf(CancelledError)
    await talk.transport.close()
    const [, , last] = await outcomes
    expect(last).toMatchObject({ status: 'rejected', reason: { code: 'transport_closed', sent: false } })
  })

  it('never sends what was given up before its turn', async () => {
    const record = join(cwd, 'record.jsonl')
    const talk = await open(server('echo.mjs', ['--record', record]))
    await talk.transport.start()
    const given = new AbortController()
    const sends = [
      talk.request(1, 'ping'),
      talk.transport.send({ jsonrpc: '2.0', id: 2, method: 'ping' }, { signal: given.signal }),
      talk.request(3, 'ping'),
    ]
    given.abort()
    const outcomes = await Promise.allSettled(sends)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    await talk.answer(3)
    const received = (await readFile(record, 'utf8')).trim().split('\n')
    expect(received.map((line) => JSON.parse(line).id)).toEqual([1, 3])
  })

  it('refuses what is no JSON, and leaves no listener on a signal', async () => {
    const talk = await open(server('echo.mjs'))
    await talk.transport.start()
    const loop: { self?: unknown } = {}
    loop.self = loop
    await expect(talk.request(1, 'm', loop)).rejects.toBeInstanceOf(InvalidArgumentsError)
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const drop = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof drop>) => {
      listeners -= 1
      drop(...args)
    }
    await talk.transport.send({ jsonrpc: '2.0', id: 2, method: 'ping' }, { signal })
    expect(listeners).toBe(0)
  })
})

describe('close', () => {
  it('lets a server end by itself at EOF, and reports no error', async () => {
    const talk = await open(server('echo.mjs'))
    await talk.transport.start()
    await Promise.all([talk.transport.close(), talk.transport.close()])
    expect(await talk.closed).toEqual({})
    expect(isRunning(talk.transport.pid ?? 0)).toBe(false)
  })

  it('ends a stubborn server with its grandchild', async () => {
    const talk = await open(server('stubborn.mjs', ['--grandchild']))
    await talk.transport.start()
    await eventually(() => expect(talk.stderr.filter((line) => line.startsWith('pids '))).toHaveLength(2))
    await talk.transport.close()
    expect(pidsIn(talk.stderr.join('\n')).filter(isRunning)).toEqual([])
  })

  it('delivers nothing any more', async () => {
    const talk = await open(server('echo.mjs', ['--delay', '20']))
    await talk.transport.start()
    await talk.request(1, 'tools/call', { name: 'echo', arguments: {} })
    await talk.transport.close()
    expect(talk.messages).toEqual([])
  })

  it('may come before start, which then says so', async () => {
    const talk = await open(server('echo.mjs'))
    await talk.transport.close()
    await expect(talk.transport.start()).rejects.toBeInstanceOf(TransportClosedError)
  })

  it('does not hang on an environment that never answers', async () => {
    const never = new Promise<never>(() => {})
    const transport = new StdioTransport(
      {
        pid: undefined,
        onstdout: undefined,
        onstderr: undefined,
        write: () => never,
        closeStdin: () => {},
        exited: never,
        terminate: () => never,
      },
      { label: 'far', eofGraceMs: 1, terminateMs: 1 },
    )
    const talk = converse(transport)
    await transport.start()
    await transport.close()
    expect(await talk.closed).toEqual({})
  })
})

describe('a receiver that fails', () => {
  it('does not cost the connection', async () => {
    const talk = await open(server('echo.mjs'))
    let first = true
    const { messages } = talk
    talk.transport.onmessage = (message) => {
      if (first) {
        first = false
        throw new Error('cannot take it')
      }
      messages.push(message)
    }
    await talk.transport.start()
    await talk.request(1, 'ping')
    await talk.request(2, 'ping')
    await talk.answer(2)
    expect(talk.warnings.map((warning) => warning.message)).toEqual(['cannot take it'])
  })
})
