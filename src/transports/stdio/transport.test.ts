import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { converse, INITIALIZE, server, stdioConversations } from '../../../test/fixtures/stdio/conversation.js'
import { eventually, isRunning, pidsIn } from '../../../test/fixtures/stdio/running.js'
import { CancelledError, ConfigError, InvalidArgumentsError, TransportClosedError } from '../../errors.js'
import { StdioTransport } from './transport.js'

const { cwd, open } = stdioConversations()

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
    const parentEnv = { PATH: process.env.PATH, HOME: cwd(), FAKE_API_KEY: 'never', ASKED: 'a', NODE_OPTIONS: '--bad' }
    const target = server('echo.mjs', [], { env: { GIVEN: 'g' }, envVars: ['ASKED', 'UNSET'] })
    const talk = await open(target, { parentEnv })
    await talk.transport.start()
    await talk.request(1, 'tools/call', { name: 'env' })
    const answer = (await talk.answer(1)) as unknown as { result: { content: [{ text: string }] } }
    expect(JSON.parse(answer.result.content[0].text)).toEqual({
      PATH: process.env.PATH,
      HOME: cwd(),
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
      [undefined, cwd()],
      ['.', cwd()],
      ['/', '/'],
    ] as const) {
      const talk = await open(server('echo.mjs', [], configured === undefined ? {} : { cwd: configured }))
      await talk.transport.start()
      await talk.request(1, 'tools/call', { name: 'process' })
      expect(JSON.stringify(await talk.answer(1))).toContain(`\\"cwd\\":\\"${expected}\\"`)
    }
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
    const record = join(cwd(), 'record.jsonl')
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
