import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonRpcMessage, TransportClosed } from '../../../protocol/index.js'
import { SocketTransport } from './socket-transport.js'

let folder: string
let ends: readonly [Socket, Socket]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-socket-'))
  ends = await pair(join(folder, 's'))
})
afterEach(async () => {
  for (const socket of ends) socket.destroy()
  await rm(folder, { recursive: true })
})

async function pair(path: string): Promise<readonly [Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true })
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const near = connect({ path, allowHalfOpen: true })
  const far = await accepted
  server.close()
  for (const socket of [near, far]) socket.on('error', () => undefined)
  return [near, far]
}

/** A transport on one end, and what it delivers. */
async function open(limit = 1000) {
  const transport = new SocketTransport(ends[0], { limit, peer: 'the other side' })
  const messages: JsonRpcMessage[] = []
  transport.onmessage = (message) => messages.push(message)
  const closed = new Promise<TransportClosed>((resolve) => {
    transport.onclose = resolve
  })
  await transport.start()
  return { transport, messages, closed }
}

describe('messages over a socket', () => {
  it('go both ways, one a line, whatever the chunks', async () => {
    const { transport, messages } = await open()
    const arrived = new Promise<string>((resolve) => ends[1].once('data', (chunk) => resolve(chunk.toString())))
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    expect(await arrived).toBe('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    for (const part of ['{"jsonrpc":"2.0",', '"id":1,"result":{}}\n{"jsonrpc":"2.0","method":"x"}', '\n']) {
      await new Promise((resolve) => ends[1].write(part, resolve))
    }
    await expect.poll(() => messages.length).toBe(2)
  })

  it.each([
    ['text that is no JSON', 'GET / HTTP/1.1\n', 'protocol_violation'],
    ['JSON that is no message', '{"jsonrpc":"1.0","id":1}\n', 'protocol_violation'],
    ['a batch', '[{"jsonrpc":"2.0","method":"x"}]\n', 'protocol_violation'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x0a]), 'protocol_violation'],
    ['a frame that is too long, before its end', 'x'.repeat(1100), 'limit_exceeded'],
  ])('end with %s', async (_what, said, code) => {
    const { transport, messages, closed } = await open()
    ends[1].write(said)
    expect((await closed).error).toMatchObject({ code })
    expect(messages).toEqual([])
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      code: 'transport_closed',
      sent: false,
    })
    await expect.poll(() => ends[0].destroyed).toBe(true)
  })

  it.each(['end', 'destroy'] as const)('end without a fault when the other side does (%s)', async (how) => {
    const { closed } = await open()
    ends[1][how]()
    expect(await closed).toEqual({})
  })

  it('end at once on a socket whose other side has gone before', async () => {
    ends[0].resume()
    ends[1].destroy()
    await new Promise((resolve) => ends[0].once('end', resolve))
    expect(await (await open()).closed).toEqual({})
  })

  it('leave before an end of ours', async () => {
    const { transport, closed } = await open()
    let heard = ''
    ends[1].on('data', (chunk) => {
      heard += chunk.toString()
    })
    const over = new Promise((resolve) => ends[1].once('end', resolve))
    void transport.send({ jsonrpc: '2.0', method: 'last' })
    await transport.close()
    await Promise.all([over, closed])
    expect(heard).toContain('"last"')
  })
})
