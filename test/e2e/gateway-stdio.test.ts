import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { type Home, openHome } from './gateway/harness.js'
import { type BuiltProgram, buildProgram } from './gateway/program.js'

let program: BuiltProgram
let home: Home
const running: ChildProcessWithoutNullStreams[] = []
beforeAll(async () => {
  program = await buildProgram('stdio-host')
})
afterAll(() => program[Symbol.asyncDispose]())
beforeEach(async () => {
  home = await openHome(() => ({ notes: {} }))
})
afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  await home[Symbol.asyncDispose]()
})

/** A client that writes lines and reads lines. */
class Pipe {
  readonly child: ChildProcessWithoutNullStreams
  readonly lines: string[] = []
  stderr = ''
  readonly exited: Promise<unknown[]>
  readonly #waiters: (() => void)[] = []
  #taken = 0

  constructor(env: Record<string, string> = {}) {
    this.child = spawn(program.command, [...program.args], {
      env: { PATH: process.env.PATH ?? '', REEVE_HOME: home.path, HOME: home.path, ...env },
    })
    running.push(this.child)
    this.exited = once(this.child, 'close')
    this.child.stderr.on('data', (chunk) => {
      this.stderr += chunk
    })
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.lines.push(line)
      for (const waiter of this.#waiters.splice(0)) waiter()
    })
  }

  write(...messages: unknown[]): void {
    this.child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  }

  async next(): Promise<JsonObject> {
    while (this.#taken >= this.lines.length) await new Promise<void>((resolve) => this.#waiters.push(resolve))
    this.#taken += 1
    return JSON.parse(this.lines[this.#taken - 1] ?? '') as JsonObject
  }

  async answerTo(id: string | number): Promise<JsonObject> {
    for (let message = await this.next(); ; message = await this.next()) if (message.id === id) return message
  }

  async open(): Promise<void> {
    this.write(initialize(), { jsonrpc: '2.0', method: 'notifications/initialized' })
    await this.answerTo('init')
  }

  async pidOfServer(): Promise<number> {
    this.write({ jsonrpc: '2.0', id: 'pid', method: 'tools/call', params: { name: 'notes__process' } })
    const { result } = await this.answerTo('pid')
    const text = ((result as JsonObject).content as JsonObject[])[0]?.text
    return JSON.parse(String(text)).pid as number
  }
}

const initialize = (protocolVersion = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
})
const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('reeve on a pipe', () => {
  it('serves both eras until a client chooses with initialize, on the same pipe', async () => {
    const pipe = new Pipe()
    const envelope = (protocolVersion: string) => ({
      'io.modelcontextprotocol/protocolVersion': protocolVersion,
      'io.modelcontextprotocol/clientCapabilities': {},
    })
    pipe.write({ jsonrpc: '2.0', id: 'bare', method: 'server/discover', params: {} })
    expect(await pipe.answerTo('bare')).toMatchObject({ error: { code: -32602 } })
    pipe.write({ jsonrpc: '2.0', id: 'old', method: 'tools/list', params: { _meta: envelope('2027-01-01') } })
    expect(await pipe.answerTo('old')).toMatchObject({
      error: { code: -32022, data: { requested: '2027-01-01', supported: expect.arrayContaining(['2026-07-28']) } },
    })
    pipe.write({ jsonrpc: '2.0', id: 'probe', method: 'server/discover', params: { _meta: envelope('2026-07-28') } })
    expect(await pipe.answerTo('probe')).toMatchObject({
      result: { resultType: 'complete', supportedVersions: expect.arrayContaining(['2026-07-28', '2025-11-25']) },
    })
    pipe.write({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(await pipe.answerTo(1)).toMatchObject({ error: { code: -32600 } })
    pipe.write({ jsonrpc: '2.0', id: 2, method: 'ping' })
    expect(await pipe.answerTo(2)).toMatchObject({ result: {} })
    await pipe.open()
    pipe.write({ jsonrpc: '2.0', id: 3, method: 'server/discover', params: { _meta: envelope('2026-07-28') } })
    expect(await pipe.answerTo(3)).toMatchObject({ error: { code: -32601 } })
  })

  it('ends at once when a modern client that listens closes its end', async () => {
    const pipe = new Pipe()
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { _meta, notifications: { toolsListChanged: true } }
    pipe.write({ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params })
    await expect
      .poll(() => pipe.lines.map((line) => JSON.parse(line) as object))
      .toContainEqual(
        expect.objectContaining({
          method: 'notifications/subscriptions/acknowledged',
          params: {
            notifications: { toolsListChanged: true },
            _meta: { 'io.modelcontextprotocol/subscriptionId': 'l' },
          },
        }),
      )
    pipe.child.stdin.end()
    expect(await pipe.exited).toEqual([0, null])
  })

  it('answers a whole script that ends with end of file', async () => {
    const pipe = new Pipe()
    pipe.write(
      initialize(),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'notes__slow', arguments: { ms: 300 } } },
    )
    pipe.child.stdin.end()
    expect(await pipe.exited).toEqual([0, null])
    expect(pipe.lines.map((line) => JSON.parse(line).id)).toEqual(['init', 2, 3])
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('ends on %s with its servers', async (signal) => {
    const pipe = new Pipe()
    await pipe.open()
    const pid = await pipe.pidOfServer()
    pipe.write({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'notes__hang' } })
    pipe.child.kill(signal)
    expect(await pipe.exited).toEqual([0, null])
    expect(isRunning(pid)).toBe(false)
  })

  it('ends with its servers when the client vanishes', async () => {
    const pipe = new Pipe()
    await pipe.open()
    const pid = await pipe.pidOfServer()
    pipe.child.stdout.destroy()
    pipe.child.stdin.destroy()
    await pipe.exited
    expect(isRunning(pid)).toBe(false)
  })

  it('keeps what others print out of the protocol', async () => {
    const pipe = new Pipe({ SAY: 'a library says hello' })
    await pipe.open()
    expect(pipe.lines.join('\n')).not.toContain('hello')
    expect(pipe.stderr).toContain('a library says hello')
  })

  it('goes on after lines that are none, and answers each', async () => {
    const pipe = new Pipe()
    await pipe.open()
    pipe.child.stdin.write('Content-Length: 10\n\n\x00\xff\n')
    expect(await pipe.next()).toMatchObject({ id: null, error: { code: -32700 } })
    expect(await pipe.next()).toMatchObject({ id: null, error: { code: -32700 } })
    pipe.write({ jsonrpc: '2.0', id: 5, method: 'ping' })
    expect(await pipe.answerTo(5)).toMatchObject({ result: {} })
    pipe.child.stdin.end()
    expect(await pipe.exited).toEqual([0, null])
  })

  it('takes batches in the revision that has them', async () => {
    const pipe = new Pipe()
    pipe.write(initialize('2025-03-26'), { jsonrpc: '2.0', method: 'notifications/initialized' })
    await pipe.answerTo('init')
    pipe.write([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'notes__echo', arguments: { message: 'b' } } },
    ])
    expect(await pipe.next()).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: { content: [{ text: 'b' }] } },
    ])
  })
})
