import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serveExecutorWebSocket } from '../../src/executor/index.js'
import { connectExecutor, type ExecutorClient, ended, event, nodeProcess, outputOf, runs } from './executor-client.js'

const open = () => serveExecutorWebSocket({ host: '127.0.0.1', port: 0, authentication: { kind: 'none' } })

const start = (client: ExecutorClient, id: string, script: string, changes: object = {}) =>
  client.ask('process/start', nodeProcess(id, script, changes))
const base64 = (text: string) => Buffer.from(text).toString('base64')
const printed = (client: ExecutorClient, id: string, text: string) =>
  client.when(() => outputOf(client, id).includes(text))

const FOREVER = 'setInterval(() => {}, 1000)'
/** Prints its own pid and that of a child in the same group. */
const FAMILY = `
const child = require('node:child_process').spawn(process.execPath, ['-e', '${FOREVER}'], { stdio: 'ignore' })
console.log(JSON.stringify([process.pid, child.pid]))
${FOREVER}`

async function family(client: ExecutorClient, id: string): Promise<readonly number[]> {
  await start(client, id, FAMILY)
  await printed(client, id, ']')
  return JSON.parse(outputOf(client, id))
}

describe('a process of an executor', () => {
  it('gets what is written, in order, and tells all of its output under one counter', async () => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    await start(client, 'p', 'process.stdin.pipe(process.stdout)')
    const lines = Array.from({ length: 200 }, (_, index) => `${index} ${'x'.repeat(1000)}\n`)
    for (const [index, line] of lines.entries())
      client.send({
        id: index,
        method: 'process/write',
        params: { processId: 'p', chunk: base64(line), writeId: `${index}` },
      })
    await client.when(() => outputOf(client, 'p').length === lines.join('').length)
    expect(outputOf(client, 'p')).toBe(lines.join(''))
    const numbers = client.received.filter(event('process/output', 'p')).map(({ params }) => params?.seq)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    const chunks = client.received.filter(event('process/output', 'p')).map(({ params }) => String(params?.chunk))
    expect(Math.max(...chunks.map((chunk) => Buffer.from(chunk, 'base64').length))).toBeLessThanOrEqual(8192)
  })

  it('loses no output to a client that does not read, and blocks until it does', async () => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    const total = 24 * 1024 * 1024
    client.socket.pause()
    const script = `
const fs = require('node:fs'); const block = Buffer.alloc(65536, 97); let left = ${total}
while (left > 0) { left -= fs.writeSync(1, block) }`
    client.send({ id: 1, method: 'process/start', params: nodeProcess('big', script, { pipeStdin: false }) })
    client.socket.resume()
    await client.until(event('process/closed', 'big'))
    expect(outputOf(client, 'big').length).toBe(total)
  })

  it('that does not read its stdin holds up nobody else', async () => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    await start(client, 'deaf', FOREVER)
    const chunk = base64('x'.repeat(64 * 1024))
    for (let id = 1; id <= 140; id += 1)
      client.send({ id, method: 'process/write', params: { processId: 'deaf', chunk, writeId: `${id}` } })
    expect((await client.ask('environment/status')).result).toEqual({ status: 'ready' })
    expect((await client.until(({ id }) => id === 1)).result).toEqual({ status: 'accepted' })
    expect((await client.ask('process/terminate', { processId: 'deaf' })).result).toEqual({ running: true })
    expect((await client.until(({ id }) => id === 140)).error?.code).toBe(-32603)
    await client.until(event('process/closed', 'deaf'))
  })

  it('is waited for by a long poll without holding up the rest', async () => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    await start(client, 'p', 'process.stdin.once("data", () => { console.log("news"); process.exit(3) })')
    client.send({ id: 1, method: 'process/read', params: { processId: 'p', waitMs: 60_000 } })
    expect((await client.ask('environment/status')).result).toEqual({ status: 'ready' })
    await client.ask('process/write', { processId: 'p', chunk: base64('x'), writeId: '1' })
    const { result } = await client.until(({ id }) => id === 1)
    expect(result?.chunks).toMatchObject([{ seq: 1, chunk: base64('news\n') }])
    await client.until(event('process/closed', 'p'))
    const late = await client.ask('process/read', { processId: 'p', afterSeq: 1, waitMs: 60_000 })
    expect(late.result).toMatchObject({ chunks: [], nextSeq: 4, exited: true, exitCode: 3, closed: true })
  })

  it('is killed with what it started', async () => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    const pids = await family(client, 'p')
    expect((await client.ask('process/terminate', { processId: 'p' })).result).toEqual({ running: true })
    await Promise.all(pids.map(ended))
    expect((await client.until(event('process/exited', 'p'))).params?.exitCode).toBe(137)
    await client.until(event('process/closed', 'p'))
  })

  it.runIf(process.platform === 'linux')('is killed with what left its group and session', async () => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    const script = FAMILY.replace("stdio: 'ignore'", "stdio: 'ignore', detached: true")
    await start(client, 'p', script)
    await client.when(() => outputOf(client, 'p').includes(']'))
    const pids: readonly number[] = JSON.parse(outputOf(client, 'p'))
    await client.ask('process/terminate', { processId: 'p' })
    await Promise.all(pids.map(ended))
  })

  it('ends with the executor', async () => {
    const executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    const pids = await family(client, 'p')
    await executor[Symbol.asyncDispose]()
    await Promise.all(pids.map(ended))
  })

  it.each([
    ['a sandbox', { sandbox: { permissions: { type: 'disabled' } } }],
    ['a managed network', { enforceManagedNetwork: true }],
    ['a network proxy', { networkProxy: {} }],
    ['a terminal', { tty: true }],
    ['a variable with a NUL', { env: { A: 'a\0b' } }],
    ['an argument with a NUL', { argv: ['a\0b'] }],
  ])('is not started with %s that it could not have', async (_, changes) => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    expect((await start(client, 'p', '', changes)).error?.code).toBe(-32602)
    expect((await client.ask('process/read', { processId: 'p' })).error?.code).toBe(-32600)
  })
})

describe('a session of an executor', () => {
  it('outlives its socket, and tells afterwards what was missed', async () => {
    await using executor = await open()
    const first = await connectExecutor(executor.url)
    const session = await first.greet()
    await start(first, 'p', 'process.stdin.on("data", (data) => process.stdout.write(data))')
    await first.ask('process/write', { processId: 'p', chunk: base64('one\n'), writeId: '1' })
    await printed(first, 'p', 'one')
    // Written on the way out: the answer is lost with the socket, and what it does is not.
    first.send({ id: 1, method: 'process/write', params: { processId: 'p', chunk: base64('two\n'), writeId: '2' } })
    await first.until(({ id }) => id === 1)
    await first.drop()

    await using second = await resumed(executor.url, session)
    await second.ask('process/write', { processId: 'p', chunk: base64('never\n'), writeId: '2' })
    await second.ask('process/write', { processId: 'p', chunk: base64('three\n'), writeId: '3' })
    let text = ''
    for (let afterSeq = 1; !text.includes('three'); ) {
      const { result } = await second.ask('process/read', { processId: 'p', afterSeq, waitMs: 10_000 })
      for (const { chunk } of chunksOf(result)) text += Buffer.from(chunk, 'base64')
      afterSeq = Number(result?.nextSeq) - 1
    }
    expect(text).toBe('two\nthree\n')
  })

  it('keeps the last of what a process says meanwhile, and the numbers of all of it', async () => {
    await using executor = await open()
    const first = await connectExecutor(executor.url)
    const session = await first.greet()
    const script = `process.stdin.once('data', () => { console.log('go'); setTimeout(() => process.stdout.write('x'.repeat(3_000_000)), 100) }); setTimeout(() => {}, 100_000)`
    await start(first, 'p', script)
    await first.ask('process/write', { processId: 'p', chunk: base64('x'), writeId: '1' })
    await printed(first, 'p', 'go')
    await first.drop()
    await using second = await resumed(executor.url, session)
    const read = async () => (await second.ask('process/read', { processId: 'p' })).result
    let result = await read()
    while (Number(result?.nextSeq) < 360) {
      await second.ask('process/read', { processId: 'p', afterSeq: Number(result?.nextSeq) - 1, waitMs: 5000 })
      result = await read()
    }
    const chunks = chunksOf(result)
    const bytes = chunks.reduce((sum, { chunk }) => sum + Buffer.from(chunk, 'base64').length, 0)
    expect(bytes).toBeLessThanOrEqual(1024 * 1024)
    expect(chunks[0]?.seq).toBeGreaterThan(200)
    expect(chunks.map(({ seq }) => seq)).toEqual(chunks.map((_, index) => Number(chunks[0]?.seq) + index))
  })

  it('shows no process to another one', async () => {
    await using executor = await open()
    await using one = await connectExecutor(executor.url)
    await using other = await connectExecutor(executor.url)
    await one.greet()
    await other.greet()
    const [pid = 0] = await family(one, 'p')
    expect((await other.ask('process/terminate', { processId: 'p' })).result).toEqual({ running: false })
    expect((await other.ask('process/write', { processId: 'p', chunk: '', writeId: '1' })).result).toEqual({
      status: 'unknownProcess',
    })
    expect(runs(pid)).toBe(true)
  })
})

const chunksOf = (result: unknown) =>
  z.object({ chunks: z.array(z.object({ seq: z.number(), chunk: z.string() })) }).parse(result).chunks

async function resumed(url: string, session: string): Promise<ExecutorClient> {
  for (;;) {
    const client = await connectExecutor(url)
    const answer = await client.ask('initialize', { clientName: 'test', resumeSessionId: session })
    if (answer.error?.code === -32010) {
      await client.drop()
      continue
    }
    expect(answer.result?.sessionId).toBe(session)
    client.send({ method: 'initialized' })
    return client
  }
}
