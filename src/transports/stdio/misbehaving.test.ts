import { describe, expect, it, vi } from 'vitest'
import { INITIALIZE, INITIALIZED, server, stdioConversations } from '../../../test/fixtures/stdio/conversation.js'
import { eventually, isRunning } from '../../../test/fixtures/stdio/running.js'
import { LimitExceededError, ProcessFailedError, ProtocolViolationError, TransportClosedError } from '../../errors.js'

const { cwd, open } = stdioConversations()

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
    await talk.transport.send(INITIALIZED)
    const { error } = await talk.closed
    expect(error).toBeInstanceOf(LimitExceededError)
    expect(error?.message).toBe("a line of MCP server 'notes' on stdout, in bytes, exceeds the limit of 16777216")
    await talk.transport.close()
    expect(isRunning(talk.transport.pid ?? 0)).toBe(false)
  })

  it('may flood its stderr without harm', async () => {
    const talk = await open(server('flood.mjs', ['--stderr']))
    await talk.transport.start()
    await talk.transport.send(INITIALIZED)
    // Summed, not joined: a look every 20 ms must not copy 50 MB.
    const heard = () => talk.stderr.reduce((sum, line) => sum + line.length, 0)
    await vi.waitFor(() => expect(heard()).toBeGreaterThanOrEqual(49 * 1024 * 1024), { timeout: 25_000, interval: 20 })
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
    await talk.transport.send(INITIALIZED)
    const error = (await talk.closed).error as ProcessFailedError
    const expected = Array.from({ length: 20 }, (_, index) => `stack line ${index + 81}`)
    expect(error.data).toEqual({ exitCode: 70, signal: null, stderr: expected })
  })

  it('is reported with its signal', async () => {
    const talk = await open(server('crash-after-initialize.mjs', ['--signal', 'SIGABRT']))
    await talk.transport.start()
    await talk.transport.send(INITIALIZED)
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
    await talk.transport.send(INITIALIZED)
    await eventually(() => expect(talk.stderr).toEqual(['stdin closed']))
    await talk.request(1, 'ping').catch(() => undefined)
    await talk.request(2, 'ping').catch(() => undefined)
    expect((await talk.closed).error?.message).toContain('closed its stdin and keeps running')
    await talk.transport.close()
    expect(isRunning(talk.transport.pid ?? 0)).toBe(false)
  })

  it('is not waited for when it cannot be started', async () => {
    const target = { ...server('echo.mjs'), command: 'no-such-program' }
    await expect(open(target)).rejects.toThrow(`cannot start 'no-such-program' for notes in ${cwd()}`)
  })
})
