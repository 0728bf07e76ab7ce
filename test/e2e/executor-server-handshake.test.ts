import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type ExecutorOptions, serveExecutorWebSocket } from '../../src/executor/index.js'
import { connectExecutor } from './executor-client.js'

const open = (options: ExecutorOptions = {}) =>
  serveExecutorWebSocket({ host: '127.0.0.1', port: 0, authentication: { kind: 'none' }, ...options })

function get(url: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url.replace('ws:', 'http:'), { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

describe('an executor over WebSocket', () => {
  it('answers without a jsonrpc member, in the order of the requests', async () => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    for (let id = 1; id <= 50; id += 1) client.send({ id, method: id % 2 ? 'environment/status' : 'nope' })
    await client.until(({ id }) => id === 50)
    const numbers = client.received.map(({ id }) => id).filter((id) => typeof id === 'number' && id <= 50)
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
    expect(client.received.some((message) => 'jsonrpc' in message)).toBe(false)
  })

  it('tells a health check that it is ready, and a browser nothing', async () => {
    await using executor = await open()
    expect(await get(`${executor.url}/readyz`)).toBe(200)
    expect(await get(executor.url)).toBe(400)
    expect(await get(`${executor.url}/other`)).toBe(404)
    expect(await get(`${executor.url}/readyz`, { origin: 'http://x.test' })).toBe(403)
    await expect(connectExecutor(executor.url, { origin: 'http://x.test' })).rejects.toThrow('403')
    await expect(connectExecutor(`${executor.url}/other`)).rejects.toThrow('404')
  })

  it('will not listen beyond this machine without a token', async () => {
    const beyond = { port: 0, authentication: { kind: 'none' } } as const
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'localhost'])
      await expect(serveExecutorWebSocket({ host, ...beyond })).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('takes binary messages and fragments', async () => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    await client.greet()
    client.socket.send(Buffer.from('{"id":1,"method":"environment/status"}'))
    client.socket.send('{"id":2,"met', { fin: false })
    client.socket.send('hod":"environment/status"}', { fin: true })
    expect((await client.until(({ id }) => id === 1)).result).toEqual({ status: 'ready' })
    expect((await client.until(({ id }) => id === 2)).result).toEqual({ status: 'ready' })
  })

  it('drops a client whose message is over the limit, and goes on for others', async () => {
    await using executor = await open()
    await using large = await connectExecutor(executor.url)
    await using other = await connectExecutor(executor.url)
    await other.greet()
    large.socket.send(Buffer.alloc(65 * 1024 * 1024, 0x20))
    expect([1006, 1009]).toContain(await large.closed)
    expect((await other.ask('environment/status')).result).toEqual({ status: 'ready' })
  })

  it.each([
    ['a number for a name', { id: 1, method: 'initialize', params: { clientName: 7 } }, -32602],
    ['an array of params', { id: 1, method: 'initialize', params: [] }, -32602],
    ['null for params', { id: 1, method: 'initialize', params: null }, -32602],
    [
      'a session id of another type',
      { id: 1, method: 'initialize', params: { clientName: 'a', resumeSessionId: {} } },
      -32602,
    ],
    ['a call before the handshake', { id: 1, method: '__proto__' }, -32600],
  ])('refuses %s', async (_, message, code) => {
    await using executor = await open()
    await using client = await connectExecutor(executor.url)
    client.send(message)
    expect((await client.until(({ id }) => id === 1)).error?.code).toBe(code)
  })

  it('lets a client back in when its old connection is half open', async () => {
    await using executor = await open()
    await using first = await connectExecutor(executor.url)
    const session = await first.greet()
    // A client that neither reads nor answers: its machine is gone, and nobody said so.
    first.socket.pause()
    await using second = await connectExecutor(executor.url)
    let answer = await second.ask('initialize', { clientName: 'test', resumeSessionId: session })
    expect(answer.error?.code).toBe(-32010)
    while (answer.error?.code === -32010) {
      // As real clients do.
      await pause(100)
      answer = await second.ask('initialize', { clientName: 'test', resumeSessionId: session })
    }
    expect(answer.result?.sessionId).toBe(session)
    first.socket.resume()
  })
})
