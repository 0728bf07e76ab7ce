import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BrokerError } from '../../../errors.js'
import type { JsonObject } from '../../../protocol/index.js'
import { GOODBYE } from '../wire/session-frames.js'
import { type BridgeOptions, bridgeStdio } from './bridge.js'

let folder: string
let server: Server
const sockets: Socket[] = []
/** The brokers' ends, in the order in which they were joined. */
let brokers: Broker[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-bridge-'))
  brokers = []
  server = createServer({ allowHalfOpen: true }, (socket) => brokers.push(new Broker(socket)))
  await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve))
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true })
})

/** The other end of a bridge: says and hears what a test wants. */
class Broker {
  readonly heard: JsonObject[] = []
  readonly #socket: Socket

  constructor(socket: Socket) {
    this.#socket = socket
    sockets.push(socket)
    let text = ''
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        text += chunk.toString()
        for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
          this.heard.push(JSON.parse(text.slice(0, end)) as JsonObject)
          text = text.slice(end + 1)
        }
      })
  }

  say(...messages: JsonObject[]): void {
    for (const message of messages) this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  die(): void {
    this.#socket.destroy()
  }
}

async function joined(): Promise<Socket> {
  const socket = connect({ path: join(folder, 's'), allowHalfOpen: true })
  sockets.push(socket)
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  await expect.poll(() => brokers.length).toBeGreaterThan(0)
  return socket
}

/** A bridge with its client's pipe. */
async function bridge(options: Partial<BridgeOptions> = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const heard: JsonObject[] = []
  output.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trimEnd().split('\n')) heard.push(JSON.parse(line) as JsonObject)
  })
  const socket = await joined()
  const ended = bridgeStdio({
    streams: { input, output },
    socket,
    rejoin: joined,
    onNote: () => undefined,
    ...options,
  })
  const say = (...messages: JsonObject[]) => {
    for (const message of messages) input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  return { input, heard, ended, say, socket }
}

const goodbye = (reason: string): JsonObject => ({ method: GOODBYE, params: { reason } })
const brokerAt = async (index: number): Promise<Broker> => {
  await expect.poll(() => brokers.length).toBeGreaterThan(index)
  const found = brokers[index]
  if (found === undefined) throw new Error('no such broker')
  return found
}

describe('a bridge', () => {
  it('goes on with what the client says in the very moment in which the broker leaves', async () => {
    const { socket, say } = await bridge()
    const first = await brokerAt(0)
    // Behind the bridge's own listener: its socket is closed then, and has not said so yet.
    socket.once('data', () => say({ method: 'notifications/roots/list_changed' }))
    first.say(goodbye('stopped'))
    await expect.poll(() => socket.destroyed).toBe(true)
    say({ id: 1, method: 'tools/list' })
    const next = await brokerAt(1)
    await expect
      .poll(() => next.heard.map(({ method }) => method))
      .toEqual(['notifications/roots/list_changed', 'tools/list'])
  })

  it('leaves a broker that says goodbye only when that has answered everything, and holds what comes meanwhile', async () => {
    const { heard, say } = await bridge()
    const first = await brokerAt(0)
    say({ id: 1, method: 'tools/call' })
    await expect.poll(() => first.heard.length).toBe(1)
    first.say({ id: 9, method: 'ping' }, goodbye('handover'))
    await expect.poll(() => heard.length).toBe(1)
    say({ id: 2, method: 'tools/list' }, { id: 9, result: {} })
    await expect.poll(() => first.heard.length).toBe(2)
    expect(first.heard[1]).toMatchObject({ id: 9, result: {} })
    expect(brokers).toHaveLength(1)
    first.say({ id: 1, result: { done: true } })
    const next = await brokerAt(1)
    await expect.poll(() => next.heard).toMatchObject([{ id: 2 }])
    expect(heard).toMatchObject([{ id: 9 }, { id: 1, result: { done: true } }])
  })

  it('reads no more than it can hold while no broker is there, and goes on reading when one is', async () => {
    let join: ((socket: Socket) => void) | undefined
    const rejoin = () =>
      new Promise<Socket>((resolve) => {
        join = resolve
      })
    const { input, say } = await bridge({ rejoin })
    ;(await brokerAt(0)).die()
    await expect.poll(() => join).toBeDefined()
    const big = 'x'.repeat(6 * 1024 * 1024)
    for (let id = 1; id <= 5; id += 1) say({ id, method: 'tools/call', params: { big } })
    await expect.poll(() => input.isPaused()).toBe(true)
    expect(input.readableLength + input.writableLength).toBeGreaterThan(big.length)
    join?.(await joined())
    const next = await brokerAt(1)
    await expect.poll(() => next.heard.length, { timeout: 10_000 }).toBe(5)
  })

  it('tells the client of everything that it still waits for when no broker can be joined any more, and ends', async () => {
    const { heard, ended, say } = await bridge({
      rejoin: () => Promise.reject(new BrokerError('broker_unreachable', 'none')),
      patienceMs: 0,
    })
    const first = await brokerAt(0)
    say({ id: 1, method: 'tools/call' }, { id: 2, method: 'tools/list' })
    await expect.poll(() => first.heard.length).toBe(2)
    first.die()
    expect(await ended).toBe('broker_lost')
    expect(heard).toMatchObject([
      { id: 1, error: { data: { code: 'broker_lost' } } },
      { id: 2, error: { data: { code: 'broker_unreachable' } } },
    ])
  })

  it('ends at once when it is told to, and says nothing more', async () => {
    const controller = new AbortController()
    const { ended, socket } = await bridge({ signal: controller.signal })
    controller.abort()
    expect(await ended).toBe('aborted')
    expect(socket.destroyed).toBe(true)
    expect((await brokerAt(0)).heard).toEqual([])
  })

  it('says that it leaves when the client closes its pipe, takes the last answers, and ends with the broker', async () => {
    const { input, heard, ended, say } = await bridge()
    const first = await brokerAt(0)
    say({ id: 1, method: 'tools/call' })
    input.end()
    await expect.poll(() => first.heard.map(({ method }) => method)).toEqual(['tools/call', 'reeve/leaving'])
    first.say({ id: 1, result: {} })
    await expect.poll(() => heard.length).toBe(1)
    first.die()
    expect(await ended).toBe('client_left')
  })
})
